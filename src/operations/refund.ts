import type { Claim } from '../model/guests/claim.ts'
import { viewPayment, type Payment, type RefundBody } from '../model/guests/payment.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { moneyIn } from '../model/text/money.ts'
import { eventOf, foundCheck, guestChange, readsOfCheck } from './guest-change.ts'
import type { Operation } from './operation.ts'

/** The payment to refund; it never moves to another check. */
export interface Refund extends RefundBody {
  payment: Pick<Payment, 'id' | 'location_id' | 'external_check_id'>
}

function reads({ payment }: Refund) {
  return {
    ...readsOfCheck(addressOf(payment)),
    paid: { collection: 'payments', id: payment.id },
  } as const
}

function addressOf({ location_id, external_check_id }: Refund['payment']) {
  return { location_id, external_id: external_check_id }
}

/**
 * `POST /_sim/payments/{id}/refunds`: refunds a part, or the rest, without the tip; the balance grows by it. The
 * payment's claims stay paid until it is fully refunded, and are released then (contract section 7).
 */
export const refund = {
  reads,
  decide({ checks, claims, paid }, { payment: { id }, ...command }, { now }) {
    if (paid === undefined) throw paymentNotFound(id)
    const check = foundCheck(checks, addressOf(paid))
    const rest = paid.amount_cents - paid.refunded_cents
    const amount_cents = command.amount_cents ?? rest
    // A payment of 0 can be refunded once; otherwise its claims would stay paid for ever.
    if (paid.status === 'refunded' || amount_cents > rest) throw exceedsPayment(paid, amount_cents)
    const isWhole = amount_cents === rest
    const reply: Payment = {
      ...paid,
      refunded_cents: paid.refunded_cents + amount_cents,
      status: isWhole ? 'refunded' : 'partially_refunded',
      refunded_at: now.toISOString(),
    }
    const before = [...claims]
    const after = guestChange({
      check,
      before,
      claims: isWhole ? before.map((claim) => releasedIfPaidBy(claim, id)) : before,
      paid_cents: check.paid_cents - amount_cents,
      now,
    })
    return {
      reply,
      writes: [put('payments', reply), ...after.writes],
      events: [eventOf(check, 'payment.refunded', viewPayment(reply))],
    }
  },
} satisfies Operation<Refund, ReturnType<typeof reads>, Payment>

function releasedIfPaidBy(claim: Claim, payment_id: string): Claim {
  return claim.status === 'paid' && claim.payment_id === payment_id ? { ...claim, status: 'released' } : claim
}

export function paymentNotFound(id: string): Refusal {
  return new Refusal(
    'not_found',
    `Payment ${id} not found at this key's location. GET /payments lists the payments.`,
  )
}

function exceedsPayment(
  { id, amount_cents, refunded_cents, status, currency }: Payment,
  wanted: number,
): Refusal {
  const money = moneyIn(currency, 'en')
  const rest = amount_cents - refunded_cents
  const why =
    status === 'refunded'
      ? `Payment ${id} is already fully refunded`
      : `${money(wanted)} is more than the ${money(rest)} left to refund of payment ${id}`
  return new Refusal(
    'exceeds_payment',
    `${why}. Nothing was refunded. Refund at most refundable_cents (${rest}).`,
    { refundable_cents: rest },
  )
}
