import type { Check, Push } from '../../src/model/check.ts'
import type {
  Claim,
  ClaimBody,
  Feedback,
  FeedbackBody,
  Payment,
  RefundBody,
} from '../../src/model/guests/records.ts'
import { claimItems, releaseClaim } from '../../src/operations/claims.ts'
import { leaveFeedback } from '../../src/operations/leave-feedback.ts'
import type { Context, Decision } from '../../src/operations/operation.ts'
import { pay, type Pay, refund } from '../../src/operations/payments.ts'
import { pushCheck } from '../../src/operations/push-check.ts'
import { noon, push } from './push-fixtures.ts'

export type Table = ReturnType<typeof tableWith>

/** A table with a pushed check. Each operation continues from the records of the previous one. */
export function tableWith(first: Push = push()) {
  const address = { location_id: 'loc_1', external_id: 'c-1' }
  const [checks, claims] = [new Map<string, Check>(), new Map<string, Claim>()]
  const [payments, feedback] = [new Map<string, Payment>(), new Map<string, Feedback>()]
  const stored: Record<string, Map<string, unknown>> = { checks, claims, payments, feedback }
  let made = 0
  const context: Context = {
    now: noon,
    newId: (prefix) => `${prefix}_${String(++made).padStart(4, '0')}`,
    newSecret: () => 'whsec_1',
    generation: 0,
  }
  const all = () => ({ checks: checks.values(), claims: claims.values() })
  /** Stores the decision, and returns its reply and events. */
  const take = <Reply>({ reply, writes, events }: Decision<Reply>) => {
    for (const write of writes) if ('put' in write) stored[write.collection]?.set(write.put.id, write.put)
    return { reply, writes, types: events.map(({ type }) => type), events }
  }
  const location = { id: 'loc_1', name: 'Bar', timezone: 'UTC', currency: 'EUR', created_at: '' }
  const table = {
    push: (pushed: Push) =>
      take(pushCheck.decide(all(), { ...address, push: pushed, order_by: 'revision' }, context)),
    claim: (items: Quantities, body: Partial<ClaimBody> = {}) =>
      take(
        claimItems.decide(all(), { ...address, guest_name: null, items: linesOf(items), ...body }, context),
      ),
    release: (claim: Claim) => take(releaseClaim.decide(all(), { claim }, context)),
    pay: (body: Partial<Pay> = {}) =>
      take(
        pay.decide(
          { ...all(), location, payments: payments.values() },
          { ...address, guest_name: null, tip_cents: 0, ...body },
          context,
        ),
      ),

    refund: (payment: Pick<Payment, 'id' | 'location_id' | 'external_check_id'>, body: RefundBody = {}) =>
      take(refund.decide({ ...all(), paid: payments.get(payment.id) }, { payment, ...body }, context)),
    rate: (body: Pick<FeedbackBody, 'rating'> & Partial<FeedbackBody>) =>
      take(leaveFeedback.decide(all(), { ...address, guest_name: null, comment: null, ...body }, context)),
    check(): Check {
      const [check] = checks.values()
      if (check === undefined) throw new Error('a table begins with a push')
      return check
    },
    claims: () => [...claims.values()],
    payments: () => [...payments.values()],
    /** Amount of each claim, oldest first. */
    amounts: () => Array.from(claims.values(), ({ amount_cents }) => amount_cents),
    statuses: () => Array.from(claims.values(), ({ status }) => status),
    /** All that is stored, to be compared. */
    everything: () => JSON.stringify([...checks.values(), ...claims.values(), ...payments.values()]),
  }
  table.push(first)
  return table
}

/** How much of each item, by its external id. */
export type Quantities = Readonly<Record<string, number>>

function linesOf(items: Quantities): ClaimBody['items'] {
  return Object.entries(items).map(([external_id, quantity]) => ({ external_id, quantity }))
}

/** Returns a push with one of each item at these prices, and this total. */
export function bill(
  prices: Readonly<Record<string, number | readonly [price_cents: number, quantity: number]>>,
  total_cents: number,
  change: Partial<Push> = {},
): Push {
  const items = Object.entries(prices).map(([external_id, price]) => {
    const [price_cents, quantity] = typeof price === 'number' ? [price, 1] : price
    return { external_id, name: external_id, quantity, price_cents, note: null }
  })
  return push({ items, totals: { subtotal_cents: total_cents, tax_cents: 0, total_cents }, ...change })
}
