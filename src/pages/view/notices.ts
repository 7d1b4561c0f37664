import { h, type Tree } from '../tree.ts'
import type { Scene } from './scene.ts'

/** What a guest must be told wherever they are on the page; the regions are always there, or nothing is read out. */
export function noticesView({ model, actions }: Scene): Tree {
  if (!model.interactive) return null
  const { connection, problem } = model
  return h(
    'div',
    { class: 'notices' },
    h('p', { class: 'spoken', role: 'status' }, model.announcement),
    h(
      'div',
      { role: 'status' },
      connection !== 'live' &&
        h(
          'p',
          { class: 'notice' },
          connection === 'offline'
            ? 'You are offline. What you see may have changed.'
            : 'Reconnecting… What you see may have changed.',
        ),
    ),
    h(
      'div',
      { role: 'alert' },
      problem !== null &&
        h(
          'div',
          { class: 'notice problem' },
          h('p', {}, problem),
          h('button', { type: 'button', class: 'plain', onclick: () => actions.dismiss() }, 'OK'),
        ),
    ),
  )
}
