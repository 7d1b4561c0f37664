import type { TableCheck, TablePayment } from '../../../model/guests/guest-table.ts'
import { roundToThousandths } from '../../../model/guests/claimed-items.ts'
import { pricesOf, sumOf } from '../money.ts'
import { Button, type CheckProps, Line, quantityText } from './elements.tsx'

/** Receipts of the guest who views the page, newest first. */
export function Receipts(props: CheckProps) {
  const own = props.check.payments.filter(({ mine }) => mine)
  return (
    <>
      {own.toReversed().map((payment) => (
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
    <>
      <h3>{model.interactive ? 'Paid by others' : 'Paid'}</h3>
      <dl class="totals">
        {others.map((payment) => (
          <Line key={payment.id} name={payment.guest_name ?? 'Guest'} amount={paidText(payment)} />
        ))}
      </dl>
    </>
  )
}

function Receipt({ check, index, money, model, payment }: CheckProps & { payment: TablePayment }) {
  const title = `receipt-${payment.id}`
  const { amount_cents, refunded_cents, created_at } = payment
  const tip = payment.tip_cents ?? 0
  const { location, table, checks } = model.view
  const lines = linesOf(check, payment)
  const prices = pricesOf(lines)
  const claimed = lines.reduce((sum, { claims }) => sum + claims, 0)
  const tax = Math.round((check.totals.tax_cents * amount_cents) / (check.totals.total_cents || 1))
  return (
    <section class="sheet receipt" aria-labelledby={title}>
      <div class="heading">
        <h2 id={title} tabIndex={-1}>
          Your receipt
        </h2>
        <Button kind="plain" text="Print" press={() => print()} />
      </div>
      <p class="quiet">
        {`${location.name} · Table ${table.number}${checks.length > 1 ? ` · Check ${index + 1} of ${checks.length}` : ''}`}
      </p>
      <p class="quiet">{timeText(created_at, model.language, location.timezone)}</p>
      <dl class="totals">
        {lines.map(({ key, quantity, price_cents, name }) => (
          <Line
            key={key}
            name={`${quantityText(quantity, model.language)} × ${name}`}
            amount={money(Math.round(quantity * price_cents))}
          />
        ))}
        {lines.length === 0 ? (
          <Line name="Share of the check" amount={money(amount_cents)} />
        ) : (
          prices !== amount_cents && (
            <Line
              name={restName(check.totals, amount_cents - prices, tax, claimed)}
              amount={money(amount_cents - prices)}
            />
          )
        )}
        {tax !== 0 && (prices === amount_cents || lines.length === 0) && (
          <Line name="Tax (included)" amount={money(tax)} />
        )}
        <Line name="Tip" amount={money(tip)} />
        <Line name="Paid" amount={money(amount_cents + tip)} kind="grand" />
        <Line name="Card" amount="Test card •• 4242" />
        {refunded_cents > 0 && <Line name="Refunded" amount={money(-refunded_cents)} />}
      </dl>
    </section>
  )
}

/**
 * Names the difference between what was paid and the lines of a receipt, in cents. A claimed line keeps its
 * price at the time of the claim; the claim's amount follows the current check (contract section 7).
 * @param tax The payment's proportional part of the tax.
 * @param claims Number of claims; the amount of each is rounded.
 */
function restName(
  { subtotal_cents, tax_cents, total_cents }: TableCheck['totals'],
  rest: number,
  tax: number,
  claims: number,
): string {
  if (subtotal_cents + tax_cents !== total_cents) return 'Tax and charges'
  if (Math.abs(rest - tax) > claims) return tax_cents === 0 ? 'Adjustments' : 'Tax and adjustments'
  return tax_cents === 0 ? 'Rounding' : 'Tax'
}

interface ReceiptLine {
  key: string
  name: string
  quantity: number
  price_cents: number
  /** Number of claims of the item; the amount of each was rounded. */
  claims: number
}

/** Returns the items that make up a payment: the guest's own, or all of a check paid at once; else none. */
function linesOf({ claims, items, totals }: TableCheck, { id, amount_cents }: TablePayment) {
  const own = claims.filter(({ payment_id, mine }) => mine && payment_id === id)
  const lines =
    sumOf(own) === amount_cents
      ? own.flatMap((claim) => claim.items)
      : amount_cents === totals.total_cents
        ? items
        : []
  const merged = new Map<string, ReceiptLine>()
  for (const { external_id, quantity, price_cents } of lines) {
    // A guest may have claimed an item in several steps, and at several prices.
    const key = `${price_cents} ${external_id}`
    const known = merged.get(key) ?? { quantity: 0, claims: 0 }
    merged.set(key, {
      key,
      name: items.find((item) => item.external_id === external_id)?.name ?? external_id,
      quantity: roundToThousandths(known.quantity + quantity),
      price_cents,
      claims: known.claims + 1,
    })
  }
  return [...merged.values()]
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
