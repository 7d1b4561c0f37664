import { type Check, checkKey } from '../model/check.ts'
import {
  type ByGuest,
  type Claim,
  type PayBody,
  type Payment,
  type RefundBody,
  viewPayment,
} from '../model/guests/records.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { moneyIn } from '../model/text/money.ts'
import { invalid } from '../model/validation.ts'
import { claimNotActive } from './claims.ts'
import {
  addressOf,
  type CheckAddress,
  eventOf,
  foundCheck,
  fullyPaidEvents,
  guestChange,
  ofCheck,
  readsOfCheck,
  nextUpdatedAt,
} from './guest-change.ts'
import { type Operation, unchanged } from './operation.ts'

export interface Pay extends CheckAddress, PayBody, ByGuest {
  /** Amount that the page showed, in cents. The payment is refused when the amount has changed since. */
  expected_cents?: number | undefined
  /** Position of the payment among the guest's payments of the check, from 1. A repeated number pays nothing. */
  payment_number?: number | undefined
}

function readsToPay(address: Pay) {
  return {
    ...readsOfCheck(address),
    location: { collection: 'locations', id: address.location_id },
    payments: { collection: 'payments', index: 'check', key: checkKey(address) },
  } as const
}

/**
 * `POST /_sim/checks/{external_check_id}/payments`: pays claims, an amount, or the whole balance (contract section 7).
 * A payment that brings the balance to 0 pays all active claims, since none of them owes anything then. A payment whose
 * number the guest has used returns the earlier payment, so that a repeated request pays once.
 */
export const pay = {
  reads: readsToPay,
  decide({ checks, claims, location, payments }, command, { now, newId }) {
    const check = foundCheck(checks, command)
    const repeated = earlierPayment(payments, command)
    if (repeated !== undefined) {
      const { expected_cents = repeated.amount_cents } = command
      // Another page of the guest shows an older state.
      if (expected_cents !== repeated.amount_cents) throw alreadyPaid(expected_cents, repeated)
      return unchanged(repeated)
    }
    if (command.card === 'declined') throw declined()
    const before = [...claims]
    const currency = location?.currency ?? ''
    const asked = command.claim_ids === undefined ? undefined : activeClaims(before, command.claim_ids)
    const amount_cents = asked === undefined ? (command.amount_cents ?? check.balance_cents) : sumOf(asked)
    if (check.balance_cents <= 0 || amount_cents > check.balance_cents)
      throw exceedsBalance(check, amount_cents, currency)
    if (command.expected_cents !== undefined && command.expected_cents !== amount_cents)
      throw amountChanged(command.expected_cents, amount_cents, currency)
    const active = before.filter(({ status }) => status === 'active')
    const paid = new Set(amount_cents === check.balance_cents ? active : asked)
    const payment: Payment = {
      id: newId('pay'),
      ...ofCheck(check),
      guest_name: command.guest_name,
      claim_ids: Array.from(paid, ({ id }) => id),
      amount_cents,
      tip_cents: command.tip_cents,
      refunded_cents: 0,
      currency,
      method: 'card',
      status: 'succeeded',
      created_at: now.toISOString(),
      refunded_at: null,
      ...(command.guest_hash !== undefined && { guest_hash: command.guest_hash }),
    }
    const after = guestChange({
      check,
      before,
      claims: before.map((claim) =>
        paid.has(claim) ? { ...claim, status: 'paid', payment_id: payment.id } : claim,
      ),
      paid_cents: check.paid_cents + amount_cents,
      now,
    })
    return {
      reply: payment,
      writes: [put('payments', payment), ...after.writes],
      events: [
        eventOf(check, 'payment.succeeded', viewPayment(payment)),
        ...fullyPaidEvents(check, after.check),
      ],
    }
  },
} satisfies Operation<Pay, ReturnType<typeof readsToPay>, Payment>

function declined(): Refusal {
  return new Refusal('card_declined', 'The simulated card was declined. Nothing was paid. Try another card.')
}

/**
 * Returns the guest's payment with the number of the command.
 * @throws Refusal `validation_failed` for a number that skips payments.
 */
function earlierPayment(
  payments: Iterable<Payment>,
  { guest_hash, payment_number }: Pay,
): Payment | undefined {
  if (payment_number === undefined) return undefined
  const own = [...payments].filter((payment) => payment.guest_hash === guest_hash)
  const next = own.length + 1
  if (payment_number > next)
    throw invalid([{ path: 'payment_number', message: `must be at most ${next}, got ${payment_number}` }])
  return own[payment_number - 1]
}

/**
 * @throws Refusal `validation_failed` for an id that is no claim of the check; `claim_not_active` for a paid or
 * released claim.
 */
function activeClaims(claims: readonly Claim[], ids: readonly string[]): Claim[] {
  const known = new Map(claims.map((claim) => [claim.id, claim]))
  const issues = ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [{ path: `claim_ids[${index}]`, message: `must be the id of a claim of this check, got ${id}` }],
  )
  if (issues.length > 0) throw invalid(issues)
  const asked = claims.filter(({ id }) => ids.includes(id))
  const others = asked.filter(({ status }) => status !== 'active')
  if (others.length > 0) throw claimNotActive(others, 'Nothing was paid. Pay the other claims, or an amount.')
  return asked
}

function sumOf(claims: readonly Claim[]): number {
  return claims.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
}

function exceedsBalance(
  { external_id, balance_cents }: Check,
  amount_cents: number,
  currency: string,
): Refusal {
  const refused = (message: string) => new Refusal('exceeds_balance', message, { balance_cents })
  if (balance_cents <= 0) return refused(`Check ${external_id} has no balance to pay. Nothing was paid.`)
  // Not before, because a formatter is slow to create.
  const money = moneyIn(currency, 'en')
  return refused(
    `${money(amount_cents)} is more than the ${money(balance_cents)} owed on check ${external_id}. Nothing was paid. Pay at most balance_cents (${balance_cents}). Send a tip as tip_cents.`,
  )
}

function amountChanged(expected_cents: number, amount_cents: number, currency: string): Refusal {
  const money = moneyIn(currency, 'en')
  return new Refusal(
    'amount_changed',
    `The amount is now ${money(amount_cents)}, not ${money(expected_cents)}, because the check has changed. Nothing was paid. Read the check again.`,
    { amount_cents },
  )
}

function alreadyPaid(expected_cents: number, { amount_cents, currency }: Payment): Refusal {
  const money = moneyIn(currency, 'en')
  return new Refusal(
    'amount_changed',
    `This payment was already made with ${money(amount_cents)}, not ${money(expected_cents)}. Nothing more was paid. Read the check again.`,
    { amount_cents },
  )
}

/** The payment to refund; it never moves to another check. */
interface Refund extends RefundBody {
  payment: Pick<Payment, 'id' | 'location_id' | 'external_check_id'>
}

function readsToRefund({ payment }: Refund) {
  return {
    ...readsOfCheck(addressOf(payment)),
    paid: { collection: 'payments', id: payment.id },
  } as const
}

/**
 * `POST /_sim/payments/{id}/refunds`: refunds a part, or the rest, without the tip; the balance grows by it. The
 * payment's claims stay paid until it is fully refunded, and are released then (contract section 7).
 */
export const refund = {
  reads: readsToRefund,
  decide({ checks, claims, paid }, { payment: { id }, ...command }, { now }) {
    if (paid === undefined) throw paymentNotFound(id)
    const check = foundCheck(checks, addressOf(paid))
    const rest = paid.amount_cents - paid.refunded_cents
    const amount_cents = command.amount_cents ?? rest
    // A payment of 0 can be refunded once; otherwise its claims would stay paid for ever.
    if (paid.status === 'refunded' || amount_cents > rest) throw exceedsPayment(paid, amount_cents)
    const isWhole = amount_cents === rest
    // Receivers order the states of a payment by the time of the envelope.
    const refunded_at = nextUpdatedAt(paid.refunded_at ?? paid.created_at, now)
    const reply: Payment = {
      ...paid,
      refunded_cents: paid.refunded_cents + amount_cents,
      status: isWhole ? 'refunded' : 'partially_refunded',
      refunded_at,
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
      events: [{ ...eventOf(check, 'payment.refunded', viewPayment(reply)), created_at: refunded_at }],
    }
  },
} satisfies Operation<Refund, ReturnType<typeof readsToRefund>, Payment>

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
    `${why}. Nothing was refunded.${rest > 0 ? ` Refund at most refundable_cents (${rest}).` : ''}`,
    { refundable_cents: rest },
  )
}
