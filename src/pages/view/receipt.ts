import { claimedQuantities } from '../../model/claim.ts'
import type { TableCheck, TablePayment } from '../../model/guest-table/view.ts'
import { h, type Tree } from '../tree.ts'
import { quantityText, type CheckScene } from './scene.ts'
import { line } from './totals.ts'

/** This guest's receipts. */
export function receiptsView(scene: CheckScene): Tree {
  const own = scene.check.payments.filter(({ mine }) => mine)
  return own.map((payment) => receiptView(scene, payment))
}

/** What others have paid; without a script nobody knows whose is whose. */
export function othersPaidView(scene: CheckScene): Tree {
  const others = scene.check.payments.filter(({ mine }) => !mine)
  if (others.length === 0) return null
  return h(
    'section',
    { class: 'sheet' },
    h('h2', {}, scene.model.interactive ? 'Paid by others' : 'Paid'),
    h(
      'dl',
      { class: 'totals' },
      others.map((payment) => line(payment.guest_name ?? 'A guest', paidText(scene, payment))),
    ),
  )
}

function receiptView(scene: CheckScene, payment: TablePayment): Tree {
  const { check, money, model } = scene
  const title = `receipt-${payment.id}`
  const paid = payment.amount_cents + (payment.tip_cents ?? 0)
  return h(
    'section',
    { class: 'sheet receipt', key: payment.id, 'aria-labelledby': title },
    h('h2', { id: title, tabindex: -1 }, 'Your receipt'),
    h('p', { class: 'quiet' }, timeText(payment.created_at, model.language, model.view.location.timezone)),
    itemsOf(check, payment).map(({ name, quantity }) =>
      h('p', { class: 'row' }, `${quantityText(quantity, model.language)} × ${name}`),
    ),
    h(
      'dl',
      { class: 'totals' },
      line('Amount', money(payment.amount_cents)),
      line('Tip', money(payment.tip_cents ?? 0)),
      line('Paid by card', money(paid), 'grand'),
      payment.refunded_cents > 0 && line('Refunded', money(-payment.refunded_cents)),
    ),
  )
}

function paidText({ money }: CheckScene, { amount_cents, refunded_cents }: TablePayment): string {
  return refunded_cents > 0
    ? `${money(amount_cents)}, ${money(refunded_cents)} refunded`
    : money(amount_cents)
}

/** What this guest had taken of the check and paid with it. */
function itemsOf({ claims, items }: TableCheck, { id }: TablePayment): { name: string; quantity: number }[] {
  const own = claims.filter(({ payment_id, mine }) => mine && payment_id === id)
  return [...claimedQuantities(own, ['paid'])].map(([external_id, quantity]) => ({
    name: items.find((item) => item.external_id === external_id)?.name ?? external_id,
    quantity,
  }))
}

/** A time where the restaurant is; a zone that nobody knows is taken for UTC. */
function timeText(time: string, language: string | undefined, timeZone: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const
  try {
    return new Intl.DateTimeFormat(language, { ...style, timeZone }).format(new Date(time))
  } catch {
    return new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' }).format(new Date(time))
  }
}
