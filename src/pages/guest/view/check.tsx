import { type CheckProps, Line } from './elements.tsx'
import { Item } from './item.tsx'
import { Pay } from './pay.tsx'
import { Rating } from './rating.tsx'
import { PaidByOthers, Receipts } from './receipt.tsx'

/** A check: its items and totals, and the guest's receipts, rating and payment. */
export function Check(props: CheckProps) {
  const { check, index, model } = props
  const title = `check-${index}`
  const isPaid = check.balance_cents <= 0 && check.paid_cents > 0
  return (
    <article class="check" aria-labelledby={title}>
      <section class="sheet">
        <div class="heading">
          <h2 id={title}>{model.view.checks.length > 1 ? `Check ${check.external_id}` : 'Your check'}</h2>
          <span class={`badge ${isPaid ? 'paid' : check.status}`}>
            {isPaid ? 'Paid' : check.status === 'open' ? 'Open' : 'Closed'}
          </span>
        </div>
        {isPaid && <p class="thanks">This check is fully paid. Thank you!</p>}
        {check.items.length === 0 ? (
          <p class="quiet">No items yet.</p>
        ) : (
          <ul class="items">
            {check.items.map((item) => (
              <Item key={item.external_id} {...props} item={item} />
            ))}
          </ul>
        )}
        <Totals {...props} />
      </section>
      <div class="side">
        <Receipts {...props} />
        {model.interactive && <Rating {...props} />}
        {model.interactive && check.balance_cents > 0 && <Pay {...props} />}
        <PaidByOthers {...props} />
      </div>
    </article>
  )
}

/** The totals as the POS sent them, and the balance. */
function Totals({ check, money }: CheckProps) {
  const { subtotal_cents, tax_cents, total_cents } = check.totals
  const more = total_cents - subtotal_cents - tax_cents
  const isTaxIncluded = more === -tax_cents
  return (
    <>
      <dl class="totals">
        <Line name="Subtotal" amount={money(subtotal_cents)} />
        {tax_cents !== 0 && (
          <Line name={isTaxIncluded ? 'Tax (included)' : 'Tax'} amount={money(tax_cents)} />
        )}
        {more !== 0 && !isTaxIncluded && <Line name="Charges and discounts" amount={money(more)} />}
        <Line name="Total" amount={money(total_cents)} kind="grand" />
        {check.paid_cents !== 0 && (
          <>
            <Line name="Paid" amount={money(-check.paid_cents)} />
            <Line name="Left to pay" amount={money(Math.max(check.balance_cents, 0))} kind="grand" />
          </>
        )}
      </dl>
      {check.paid_cents > 0 && check.balance_cents > 0 && (
        <progress value={check.paid_cents} max={total_cents} aria-label="Paid so far" />
      )}
    </>
  )
}
