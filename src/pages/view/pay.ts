import { amountOf, ownClaims, pricesOf, tipOf } from '../amounts.ts'
import type { PayMode } from '../model.ts'
import { h, type Tree } from '../tree.ts'
import { choiceView } from './choice.ts'
import type { CheckScene } from './scene.ts'
import { line } from './totals.ts'
import { digitsOf } from '../money.ts'

/** How much, with which tip, by which card; and what that comes to. */
export function payView(scene: CheckScene): Tree {
  const { check, index, model, actions, money } = scene
  const amount = amountOf(check, model)
  const tip = tipOf(model.tip, amount, digitsOf(model.view.location.currency))
  const total = amount + (tip ?? 0)
  const isPossible = amount > 0 && tip !== undefined
  return h(
    'section',
    { class: 'sheet pay', id: `pay-${index}`, 'aria-labelledby': `pay-title-${index}` },
    h('h2', { id: `pay-title-${index}`, tabindex: -1 }, 'Pay'),
    modesView(scene),
    model.mode === 'even' && peopleView(scene),
    tipView(scene, tip),
    cardView(scene),
    summaryView(scene, amount, tip ?? 0),
    h(
      'button',
      {
        type: 'button',
        class: 'main',
        'aria-disabled': isPossible && !model.busy ? null : 'true',
        onclick: () => isPossible && !model.busy && actions.pay(check),
      },
      model.paying === check.external_id
        ? 'Paying…'
        : isPossible
          ? `Pay ${money(total)}`
          : hintOf(model.mode, tip),
    ),
  )
}

function hintOf(mode: PayMode, tip: number | undefined): string {
  if (tip === undefined) return 'Check the tip'
  return mode === 'mine' ? 'Take an item first' : 'Nothing to pay'
}

function modesView({ check, index, model, actions, money }: CheckScene): Tree {
  const row = (mode: PayMode, name: string) =>
    choiceView({
      group: `mode-${index}`,
      value: mode,
      checked: model.mode === mode,
      text: name,
      detail: money(amountOf(check, { ...model, mode })),
      choose: () => actions.set({ mode }),
    })
  return h(
    'fieldset',
    { class: 'modes' },
    h('legend', {}, 'What do you pay?'),
    row('mine', 'What I took'),
    row('even', 'An even share'),
    row('all', 'Everything left'),
  )
}

function peopleView({ model, actions }: CheckScene): Tree {
  const step = (by: number, name: string, sign: string) =>
    h(
      'button',
      {
        type: 'button',
        class: 'step',
        'aria-label': name,
        onclick: () => actions.set({ people: Math.min(Math.max(model.people + by, 2), 30) }),
      },
      sign,
    )
  return h(
    'div',
    { class: 'people', role: 'group', 'aria-label': 'People who share' },
    h('span', {}, 'Shared by'),
    step(-1, 'One person fewer', '−'),
    h('output', { class: 'count' }, `${model.people}`),
    step(1, 'One person more', '+'),
  )
}

const percents = [0, 10, 15, 20]

function tipView({ index, model, actions }: CheckScene, tip: number | undefined): Tree {
  const chosen = model.tip
  const group = `tip-${index}`
  return h(
    'fieldset',
    { class: 'tips' },
    h('legend', {}, 'Tip'),
    percents.map((percent) =>
      choiceView({
        group,
        value: String(percent),
        checked: 'percent' in chosen && chosen.percent === percent,
        text: percent === 0 ? 'None' : `${percent}%`,
        choose: () => actions.set({ tip: { percent } }),
      }),
    ),
    choiceView({
      group,
      value: 'own',
      checked: 'typed' in chosen,
      text: 'Other',
      choose: () => actions.set({ tip: { typed: '' } }),
    }),
    'typed' in chosen &&
      h(
        'label',
        { class: 'typed' },
        h('span', {}, 'Your tip'),
        h('input', {
          type: 'text',
          inputmode: 'decimal',
          value: chosen.typed,
          'aria-invalid': tip === undefined ? 'true' : null,
          placeholder: '0.00',
          oninput: (typed) => actions.set({ tip: { typed } }),
        }),
      ),
  )
}

function cardView({ index, model, actions }: CheckScene): Tree {
  const row = (card: 'approved' | 'declined', text: string, detail: string) =>
    choiceView({
      group: `card-${index}`,
      value: card,
      checked: model.card === card,
      text,
      detail,
      choose: () => actions.set({ card }),
    })
  return h(
    'fieldset',
    { class: 'modes cards' },
    h('legend', {}, 'Card'),
    row('approved', '•••• 4242', 'is accepted'),
    row('declined', '•••• 0002', 'is declined'),
    h('p', { class: 'quiet' }, 'Simulated: no money moves, and no card is asked for.'),
  )
}

function summaryView({ check, model, money }: CheckScene, amount: number, tip: number): Tree {
  const prices = pricesOf(ownClaims(check))
  const rest = amount - prices
  return h(
    'dl',
    { class: 'totals' },
    model.mode === 'mine' && amount > 0
      ? [line('Your items', money(prices)), rest !== 0 && line('Your share of tax and charges', money(rest))]
      : line('Your part', money(amount)),
    tip !== 0 && line('Tip', money(tip)),
    line('You pay', money(amount + tip), 'grand'),
  )
}
