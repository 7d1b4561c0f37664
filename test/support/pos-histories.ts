import type { PushInput } from '../../src/model/check.ts'
import { historiesOf, type History } from '../../src/cli/scenario/explore/history.ts'

type Line = PushInput['items'][number]

const burger = line('burger', 'Copper Burger', 1450)
const fries = line('fries', 'Hand-cut Fries', 525)
const tart = line('tart', 'Plum Tart', 780)
const tea = line('tea', 'Pot of Tea', 450, 2)

function line(external_id: string, name: string, price_cents: number, quantity = 1): Line {
  return { external_id, name, price_cents, quantity }
}

/** Pushes of one check with revisions from 1. A change may add to the total, or close the check. */
function historyOf(
  check: string,
  ...states: readonly (readonly [items: readonly Line[], change?: { charge?: number; closed?: true }])[]
): History[] {
  const pushes = states.map(([items, { charge = 0, closed } = {}], at) => {
    const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
    const tax_cents = Math.round(Math.max(subtotal_cents, 0) * 0.08)
    const body = {
      table: { number: '12' },
      status: closed === true ? 'closed' : 'open',
      items,
      totals: { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents + charge },
      revision: at + 1,
    }
    return { id: check, name: `0${at + 1}`, body: JSON.stringify(body) }
  })
  return historiesOf(pushes, 'revision')
}

/** The third push has the content of the first under a new revision: the second was lost to its sender. */
export const stale = (): History[] =>
  historyOf('table-12', [[burger]], [[burger, fries]], [[burger]], [[burger, fries, tart]])

/** Histories of POS systems that do nothing wrong. */
export const honestHistories: Record<string, () => History[]> = {
  'that only grows': () =>
    historyOf(
      'growth',
      [[burger]],
      [[burger, fries]],
      [[burger, fries, tart]],
      [[burger, fries, tart], { closed: true }],
    ),
  'with a void': () => historyOf('void', [[burger, fries]], [[burger, fries, tart]], [[burger, tart]]),
  'with a discount': () =>
    historyOf('discount', [[burger, tea]], [[burger, tea, line('happy-hour', 'Happy hour', -300)]]),
  'with a comped item': () =>
    historyOf('comp', [[burger, fries]], [[burger, line('fries', 'Hand-cut Fries', 0)]]),
  'with a service charge': () => historyOf('charge', [[burger, tea]], [[burger, tea], { charge: 435 }]),
  'with a service charge as an item': () =>
    historyOf('line', [[burger]], [[burger, line('service', 'Service charge', 218)]]),
  'with changed quantities': () =>
    historyOf(
      'quantity',
      [[burger, tea]],
      [[burger, line('tea', 'Pot of Tea', 450, 3)]],
      [[burger, line('tea', 'Pot of Tea', 450)]],
    ),
  'that is reordered': () => historyOf('order', [[burger, fries]], [[fries, burger]]),
}

export const honest = (): History[] => Object.values(honestHistories).flatMap((history) => history())

/** A history that grows, and one with a void. */
export const usual = (): History[] =>
  ['that only grows', 'with a void'].flatMap((name) => honestHistories[name]?.() ?? [])
