import { seededRandom } from '../../../model/simulator/fault-rules.ts'
import type { Envelope, EventType } from '../../../model/event.ts'
import { TRIAL_PREFIX } from '../../../model/simulator/request-entry.ts'

/** The identifiers of one check of a trial. */
export interface CheckIds {
  check_id: string
  external_check_id: string
}

/** The scenario's deliveries on fresh checks: the state that a receiver kept in other trials does not matter. */
export interface Trial {
  checks: readonly CheckIds[]
  /** In the order in which the events happened. Ids, and `updated_at` within a check, are unique; `data` is full state. */
  envelopes: readonly Envelope[]
  /** The trial's own texts (identifiers, table numbers, times), and a stable name for each, such as `{event 3}`. */
  names: ReadonlyMap<string, string>
}

/** An event of the scenario. */
export interface TrialEvent {
  type: EventType
  /** 1 or 2. */
  check: number
  /** Time since the start of a trial, which is a whole second, in milliseconds. Some events share one time. */
  atMs: number
}

export interface TrialScenario {
  /** In the order in which the events happen. */
  steps: readonly TrialEvent[]
  /**
   * Creates the deliveries of one trial. `number` counts trials from 0. Without `begin`, a whole second in milliseconds since
   * 1970, a trial is later in time than those before it.
   */
  trial(number: number, begin?: number): Trial
}

interface ScenarioOptions {
  /** Decides names, prices and tips. */
  seed: number
  newId: (prefix: 'chk' | 'evt' | 'pay' | 'loc') => string
  /** Unix time in milliseconds. All events are in the past of it. */
  now: number
}

/**
 * Age of the first trial, and the distance between trials, in milliseconds. Trials are in different minutes, so that a time
 * without seconds differs between them and is seen to be one.
 */
const BEGIN_MS = 20 * 3_600_000
const TRIAL_MS = 61_000

/** Table numbers of trials begin here: no amount of the scenario is as large. */
const TABLES = 700_000

/** The lines of a check: number on the menu and quantity. */
type Lines = readonly (readonly [line: number, quantity: number])[]

type Change = Pick<TrialEvent, 'atMs'> & { check: 1 | 2 } & (
    | { type: 'check.created' | 'check.updated'; lines: Lines }
    /** The guest pays this share of the balance, 0 to 1. */
    | { type: 'payment.succeeded'; share: number }
    /** This further share of the check's newest payment is refunded, 0 to 1. */
    | { type: 'payment.refunded'; share: number }
    | { type: 'check.fully_paid' | 'check.closed' }
  )

/**
 * Two checks: items are added, changed and removed, guests pay, two parts of a payment are refunded, and one check is closed. As in
 * the service, a payment and its check.fully_paid share one time. The last states of check 1 lie within one second, so that no later state hides the
 * mistake of a receiver that compares whole seconds.
 */
const changes: readonly Change[] = [
  {
    check: 1,
    atMs: 0,
    type: 'check.created',
    lines: [
      [1, 1],
      [2, 1],
    ],
  },
  {
    check: 1,
    atMs: 1_000,
    type: 'check.updated',
    lines: [
      [1, 1],
      [2, 1],
      [3, 2],
    ],
  },
  { check: 2, atMs: 1_400, type: 'check.created', lines: [[4, 1]] },
  {
    check: 1,
    atMs: 1_700,
    type: 'check.updated',
    lines: [
      [1, 2],
      [2, 1],
      [3, 2],
    ],
  },
  { check: 1, atMs: 3_000, type: 'payment.succeeded', share: 0.3 },
  { check: 1, atMs: 3_500, type: 'payment.refunded', share: 0.5 },
  { check: 1, atMs: 3_700, type: 'payment.refunded', share: 0.25 },
  {
    check: 2,
    atMs: 4_000,
    type: 'check.updated',
    lines: [
      [4, 1],
      [5, 3],
    ],
  },
  {
    check: 1,
    atMs: 5_000,
    type: 'check.updated',
    lines: [
      [1, 2],
      [3, 2],
    ],
  },
  { check: 1, atMs: 8_100, type: 'payment.succeeded', share: 1 },
  { check: 1, atMs: 8_100, type: 'check.fully_paid' },
  { check: 2, atMs: 8_200, type: 'payment.succeeded', share: 0.4 },
  { check: 2, atMs: 8_300, type: 'check.updated', lines: [[5, 3]] },
  { check: 1, atMs: 8_300, type: 'check.closed' },
]

const dishes = ['Copper Pan Burger', 'Fresh Lemonade', 'Skillet Brownie', 'Garden Salad', 'Tomato Soup']
const guests = ['Mia', 'Noah', 'Zoë', 'Aiko']

/** A check of a trial, as it stands. */
interface Standing extends CheckIds {
  table: string
  lines: Lines
  paid_cents: number
  /** The newest payment. */
  payment: Payment | undefined
  created_at: string
}

interface Payment {
  id: string
  amount_cents: number
  refunded_cents: number
  created_at: string
}

/** Creates the scenario of a seed. The same seed gives the same deliveries, except for identifiers and times. */
export function createScenario({ seed, newId, now }: ScenarioOptions): TrialScenario {
  const location_id = newId('loc')
  const whole = (from: number, below: number, ...subject: readonly (string | number)[]) =>
    from + Math.floor(seededRandom(seed, ...subject) * (below - from))

  function itemsOf({ lines }: Standing) {
    return lines.map(([line, quantity]) => ({
      line,
      name: dishes[(line + whole(0, dishes.length, 'menu')) % dishes.length],
      quantity,
      price_cents: whole(300, 2000, 'price', line),
    }))
  }

  function totalsOf(check: Standing) {
    const subtotal_cents = itemsOf(check).reduce((sum, item) => sum + item.quantity * item.price_cents, 0)
    const tax_cents = Math.round(subtotal_cents * 0.08)
    return { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents }
  }

  function checkData(check: Standing, isClosed: boolean, at: string) {
    const totals = totalsOf(check)
    const isPaid = check.paid_cents >= totals.total_cents
    return {
      id: check.check_id,
      external_id: check.external_check_id,
      location_id,
      table: { number: check.table },
      status: isClosed ? 'closed' : 'open',
      items: itemsOf(check).map(({ line, ...item }) => ({
        external_id: lineId(check, line),
        ...item,
        note: null,
        claimed_quantity: 0,
        paid_quantity: isPaid ? item.quantity : 0,
      })),
      totals,
      revision: null,
      paid_cents: check.paid_cents,
      balance_cents: totals.total_cents - check.paid_cents,
      created_at: check.created_at,
      updated_at: at,
      closed_at: isClosed ? at : null,
    }
  }

  function paymentData(check: Standing, payment: Payment, refunded_at: string | null) {
    const { id, amount_cents, refunded_cents, created_at } = payment
    return {
      id,
      check_id: check.check_id,
      external_check_id: check.external_check_id,
      guest_name: guests[amount_cents % guests.length],
      claim_ids: [],
      amount_cents,
      tip_cents: whole(0, 500, 'tip', amount_cents),
      refunded_cents,
      currency: 'USD',
      method: 'card',
      status: refunded_at === null ? 'succeeded' : 'partially_refunded',
      created_at,
      refunded_at,
    }
  }

  function pay(check: Standing, share: number, at: string) {
    const amount_cents = Math.round((totalsOf(check).total_cents - check.paid_cents) * share)
    check.paid_cents += amount_cents
    check.payment = { id: newId('pay'), amount_cents, refunded_cents: 0, created_at: at }
    return paymentData(check, check.payment, null)
  }

  function refund(check: Standing, share: number, at: string) {
    if (check.payment === undefined) throw new RangeError('The scenario refunds a payment before it is made.')
    const cents = Math.round(check.payment.amount_cents * share)
    check.paid_cents -= cents
    check.payment.refunded_cents += cents
    return paymentData(check, check.payment, at)
  }

  /** Applies a change to the check, and returns the `data` of its event. */
  function apply(change: Change, check: Standing, at: string): object {
    if (change.type === 'payment.succeeded') return pay(check, change.share, at)
    if (change.type === 'payment.refunded') return refund(check, change.share, at)
    if ('lines' in change) check.lines = change.lines
    if (change.type === 'check.created') check.created_at = at
    return checkData(check, change.type === 'check.closed', at)
  }

  return {
    steps: changes.map(({ type, check, atMs }) => ({ type, check, atMs })),
    trial(number, begin = Math.floor((now - BEGIN_MS) / 1000) * 1000 + number * TRIAL_MS) {
      const checks = [1, 2].map((check): Standing => {
        const check_id = newId('chk')
        const external_check_id = TRIAL_PREFIX + check_id.slice('chk_'.length).toLowerCase()
        const table = String(TABLES + 2 * number + check)
        return {
          check_id,
          external_check_id,
          table,
          lines: [],
          paid_cents: 0,
          payment: undefined,
          created_at: '',
        }
      })
      const envelopes = changes.map((change): Envelope => {
        const check = checks[change.check - 1]
        if (check === undefined) throw new RangeError(`Unknown check ${change.check} in the scenario.`)
        const created_at = new Date(begin + change.atMs).toISOString()
        const data = apply(change, check, created_at)
        return { id: newId('evt'), type: change.type, created_at, data }
      })
      const ids = checks.map(({ check_id, external_check_id }) => ({ check_id, external_check_id }))
      return { checks: ids, envelopes, names: namesOf(checks, envelopes) }
    },
  }
}

function lineId({ external_check_id }: CheckIds, line: number): string {
  return `${external_check_id}-line-${line}`
}

function namesOf(checks: readonly Standing[], envelopes: readonly Envelope[]): Map<string, string> {
  const lines = changes.flatMap((change) => ('lines' in change ? change.lines.map(([line]) => line) : []))
  return new Map([
    ...checks.flatMap((check, index): [string, string][] => [
      [check.check_id, `{check ${index + 1}}`],
      [check.external_check_id, `{external check ${index + 1}}`],
      [check.table, `{table ${index + 1}}`],
      ...lines.map((line): [string, string] => [lineId(check, line), `{line ${line}}`]),
    ]),
    ...envelopes.flatMap(({ id, type, created_at, data }, step): [string, string][] => [
      [id, `{event ${step + 1}}`],
      [created_at, `{time ${step + 1}}`],
      ...(type === 'payment.succeeded'
        ? [[(data as { id: string }).id, `{payment ${step + 1}}`] as [string, string]]
        : []),
    ]),
  ])
}
