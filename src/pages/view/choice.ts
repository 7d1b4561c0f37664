import { h, type Tree } from '../tree.ts'

interface Choice {
  /** Of the choices of which one holds. */
  group: string
  value: string
  checked: boolean
  text: string
  detail?: string
  /** What is read out in the place of the text. */
  label?: string
  choose(): void
}

/** One of several choices: a radio button, as wide as a finger, that keyboards and screen readers know. */
export function choiceView({ group, value, checked, text, detail, label, choose }: Choice): Tree {
  return h(
    'label',
    { class: 'choice' },
    h('input', { type: 'radio', name: group, value, checked, 'aria-label': label ?? null, onchange: choose }),
    h(
      'span',
      { class: 'face' },
      h('span', {}, text),
      detail !== undefined && h('span', { class: 'amount' }, detail),
    ),
  )
}
