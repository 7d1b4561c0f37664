import { claimedQuantities } from '../../../model/guests/claimed-items.ts'
import type { TableCheck, TablePayment } from '../../../model/guest-table/view.ts'
import { type CheckProps, Line, quantityText } from './elements.tsx'

/** Receipts of the guest who views the page. */
export function Receipts(props: CheckProps) {
  const own = props.check.payments.filter(({ mine }) => mine)
  return (
    <>
      {own.map((payment) => (
        <Receipt key={payment.id} {...props} payment={payment} />
      ))}
    </>
  )
}

/** Payments of other guests; without JavaScript the service does not know the guest and lists all payments. */
export function PaidByOthers({ check, model, money }: CheckProps) {
  const others = check.payments.filter(({ mine }) => !mine)
  if (others.length === 0) return null
  const paidText = ({ amount_cents, refunded_cents }: TablePayment) =>
    money(amount_cents) + (refunded_cents > 0 ? `, ${money(refunded_cents)} refunded` : '')
  return (
    <section class="sheet">
      <h2>{model.interactive ? 'Paid by others' : 'Paid'}</h2>
      <dl class="totals">
        {others.map((payment) => (
          <Line key={payment.id} name={payment.guest_name ?? 'Guest'} amount={paidText(payment)} />
        ))}
      </dl>
    </section>
  )
}

function Receipt({ check, money, model, payment }: CheckProps & { payment: TablePayment }) {
  const title = `receipt-${payment.id}`
  const tip = payment.tip_cents ?? 0
  return (
    <section class="sheet receipt" aria-labelledby={title}>
      <h2 id={title} tabIndex={-1}>
        Your receipt
      </h2>
      <p class="quiet">{timeText(payment.created_at, model.language, model.view.location.timezone)}</p>
      {itemsOf(check, payment).map(({ id, name, quantity }) => (
        <p key={id} class="row">{`${quantityText(quantity, model.language)} × ${name}`}</p>
      ))}
      <dl class="totals">
        <Line name="Amount" amount={money(payment.amount_cents)} />
        <Line name="Tip" amount={money(tip)} />
        <Line name="Paid by card" amount={money(payment.amount_cents + tip)} kind="grand" />
        {payment.refunded_cents > 0 && <Line name="Refunded" amount={money(-payment.refunded_cents)} />}
      </dl>
    </section>
  )
}

/** Returns the items that this guest had claimed and paid with a payment. */
function itemsOf({ claims, items }: TableCheck, payment: TablePayment) {
  const own = claims.filter(({ payment_id, mine }) => mine && payment_id === payment.id)
  return [...claimedQuantities(own, ['paid'])].map(([id, quantity]) => ({
    id,
    name: items.find(({ external_id }) => external_id === id)?.name ?? id,
    quantity,
  }))
}

/** Returns a time in the restaurant's time zone, or in UTC when the zone is unknown. */
function timeText(time: string, language: string | undefined, timeZone: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const
  try {
    return new Intl.DateTimeFormat(language, { ...style, timeZone }).format(new Date(time))
  } catch {
    return new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' }).format(new Date(time))
  }
}
