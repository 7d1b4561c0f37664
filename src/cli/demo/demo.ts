import type { Client } from '../../client.ts'
import { type DemoStep, createActions, type Receiver } from './steps.ts'

const EXTERNAL_ID = 'demo-table-12'

/**
 * Runs a check from registration to the last verified delivery, with eight types of events. Yields each step as it
 * happens.
 */
export async function* playDemo(client: Client, receiver: Receiver): AsyncGenerator<DemoStep, void> {
  const { register, push, pushInVain, guest, compare } = createActions(client, receiver, EXTERNAL_ID)
  const { guests } = client
  yield* register()
  yield* push('a new check', checkOf(1, 'open', [burger, fries]), 1)
  yield* push('the same push again', checkOf(1, 'open', [burger, fries]), 0)
  yield* push('dessert is added', checkOf(3, 'open', [burger, fries, tart]), 1)
  yield* push('an older push arrives late', checkOf(2, 'open', [burger]), 0)

  const items = [
    { external_id: burger.external_id, quantity: 1 },
    { external_id: fries.external_id, quantity: 1 },
  ]
  const claimed = guests.claim(EXTERNAL_ID, { guest_name: 'Anna', items })
  const claim = yield* guest('Anna claims a burger and the fries', claimed, 1)
  yield* pushInVain('the fries are removed, but Anna has claimed them', checkOf(4, 'open', [burger, tart]))

  const own = { guest_name: 'Anna', claim_ids: [claim.id], tip_cents: 300 }
  yield* guest('Anna pays her claim and a tip', guests.pay(EXTERNAL_ID, own), 1)
  const paid = guests.pay(EXTERNAL_ID, { guest_name: 'Ben' })
  const rest = yield* guest('Ben pays the rest', paid, 2)
  yield* push('the check is closed', checkOf(5, 'closed', [burger, fries, tart]), 1)
  yield* compare()

  const back = guests.refund(rest.id, { amount_cents: tart.price_cents })
  yield* guest('one tart was not served: Ben gets a refund', back, 1)
  const rated = guests.rate(EXTERNAL_ID, { guest_name: 'Anna', rating: 5, comment: 'Lovely tart' })
  yield* guest('Anna rates the meal', rated, 1)
}

/** Items of the demo's check, as a POS pushes them. */
const burger = {
  external_id: 'line-1',
  name: 'Copper Burger',
  quantity: 2,
  price_cents: 1450,
  note: 'one without onions',
}
const fries = {
  external_id: 'line-2',
  name: 'Hand-cut Fries',
  quantity: 1,
  price_cents: 525,
  note: null,
}
const tart = { external_id: 'line-3', name: 'Plum Tart', quantity: 2, price_cents: 780, note: null }

/** Returns the full state of the check with these items and their totals. */
function checkOf(
  revision: number,
  status: 'open' | 'closed',
  items: readonly (typeof burger | typeof fries)[],
) {
  const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
  const tax_cents = Math.round(subtotal_cents * 0.0875)
  const totals = { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents }
  return { revision, table: { number: '12' }, status, items, totals }
}
