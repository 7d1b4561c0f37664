import { unclaimedQuantity } from '../../model/claim.ts'
import type { TableCheck, TableClaim } from '../../model/guest-table/view.ts'
import { h, type Tree } from '../tree.ts'
import { nameOf, quantityText, type CheckScene } from './scene.ts'

type Item = TableCheck['items'][number]

/** One line of a check, with who has taken what of it, and what is left for this guest to take. */
export function itemView(scene: CheckScene, item: Item): Tree {
  const { model, money } = scene
  const quantity = quantityText(item.quantity, model.language)
  return h(
    'li',
    { class: 'item', key: item.external_id },
    h(
      'div',
      { class: 'row' },
      h(
        'div',
        { class: 'what' },
        h('span', { class: 'dish' }, item.name),
        item.note !== null && item.note !== '' && h('span', { class: 'remark' }, item.note),
        item.quantity !== 1 && h('span', { class: 'quiet' }, `${quantity} × ${money(item.price_cents)}`),
      ),
      h('span', { class: 'amount' }, money(Math.round(item.quantity * item.price_cents))),
    ),
    h('div', { class: 'row doing' }, takersView(scene, item), model.interactive && controlsView(scene, item)),
  )
}

function takersView({ check, model }: CheckScene, item: Item): Tree {
  const takers = takersOf(check.claims, item)
  if (takers.length === 0) return null
  return h(
    'ul',
    { class: 'takers', 'aria-label': `Taken of ${item.name}` },
    takers.map(([{ mine, paid, name }, quantity]) =>
      h(
        'li',
        { class: `taker${mine ? ' mine' : ''}${paid ? ' paid' : ''}` },
        `${name} · ${quantityText(quantity, model.language)}${paid ? ' · paid' : ''}`,
      ),
    ),
  )
}

interface Taker {
  name: string
  mine: boolean
  paid: boolean
}

/** Who holds how much of an item; several claims of one guest are told as one. */
function takersOf(claims: readonly TableClaim[], item: Item): [Taker, number][] {
  const takers = new Map<string, [Taker, number]>()
  for (const claim of claims) {
    const taken = takenBy([claim], item)
    if (taken === 0) continue
    const taker = { name: nameOf(claim), mine: claim.mine, paid: claim.status === 'paid' }
    const key = JSON.stringify(taker)
    takers.set(key, [taker, (takers.get(key)?.[1] ?? 0) + taken])
  }
  return [...takers.values()]
}

/** One tap takes one, or what is left of a part; another gives the last one back. */
function controlsView({ check, model, actions }: CheckScene, item: Item): Tree {
  if (check.status === 'closed' || check.balance_cents <= 0 || item.price_cents < 0) return null
  const left = unclaimedQuantity(item)
  const own = check.claims.filter(
    ({ mine, status, items }) =>
      mine && status === 'active' && items.some(({ external_id }) => external_id === item.external_id),
  )
  const last = own.at(-1)
  if (left <= 0 && last === undefined) return null
  const take = Math.min(1, left)
  return h(
    'div',
    { class: 'controls', role: 'group', 'aria-label': item.name },
    last !== undefined && [
      h(
        'button',
        {
          type: 'button',
          class: 'step',
          'aria-label': `Give back ${item.name}`,
          'aria-disabled': model.busy ? 'true' : null,
          onclick: () => actions.release(last.id),
        },
        '−',
      ),
      h('span', { class: 'count', 'aria-hidden': 'true' }, quantityText(takenBy(own, item), model.language)),
    ],
    left > 0 &&
      h(
        'button',
        {
          type: 'button',
          class: last === undefined ? 'take' : 'step',
          'aria-label': `Take ${quantityText(take, model.language)} ${item.name}`,
          'aria-disabled': model.busy ? 'true' : null,
          onclick: () => actions.claim(check, item.external_id, take),
        },
        last === undefined ? 'Take' : '+',
      ),
    left > 1 &&
      h(
        'button',
        {
          type: 'button',
          class: 'take all',
          'aria-label': `Take all ${quantityText(left, model.language)} ${item.name}`,
          'aria-disabled': model.busy ? 'true' : null,
          onclick: () => actions.claim(check, item.external_id, left),
        },
        `All ${quantityText(left, model.language)}`,
      ),
  )
}

function takenBy(claims: readonly TableClaim[], { external_id }: Item): number {
  const lines = claims.flatMap(({ items }) => items).filter((line) => line.external_id === external_id)
  return lines.reduce((sum, { quantity }) => sum + quantity, 0)
}
