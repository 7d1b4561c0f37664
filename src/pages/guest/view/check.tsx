import { leftOf } from '../money.ts'
import { type CheckProps, Line } from './elements.tsx'
import { Item } from './item.tsx'
import { Bar, Pay } from './pay.tsx'
import { Rating } from './rating.tsx'
import { PaidByOthers, Receipts } from './receipt.tsx'

/** A check: its items and totals, and the guest's receipts, rating and payment. */
export function Check(props: CheckProps) {
  const { check, index, model, money } = props
  const isPaid = check.balance_cents <= 0 && check.paid_cents > 0
  const isOpen = !model.interactive || model.open === check.external_id
  const state = check.status === 'closed' ? 'Closed' : ''
  const badge = isPaid ? 'Paid' : isOpen ? state : `${money(leftOf(check))} left`
  const isDue = model.interactive && isOpen && check.balance_cents > 0
  return (
    <article class="check" aria-labelledby={`check-${index}`}>
      <section class="sheet">
        <div class="heading">
          <Title {...props} isOpen={isOpen} />
          {badge !== '' && <span class={`badge${isPaid ? ' paid' : ''}`}>{badge}</span>}
        </div>
        {isPaid && <p class="thanks">This check is fully paid. Thank you!</p>}
        {isOpen && (
          <div id={`rest-${index}`}>
            {check.items.length === 0 ? (
              <p class="quiet">No items yet.</p>
            ) : (
              <ul class={`items ${check.balance_cents > 0 ? check.status : ''}`}>
                {check.items.map((item) => (
                  <Item key={item.external_id} {...props} item={item} />
                ))}
              </ul>
            )}
            <Totals {...props} />
            <PaidByOthers {...props} />
          </div>
        )}
      </section>
      <div class="side">
        {isDue && (model.form ? <Pay {...props} /> : <Bar {...props} />)}
        <Receipts {...props} />
        {model.interactive && <Rating {...props} />}
      </div>
    </article>
  )
}

/** The check's name; a button that expands and collapses it when there is more than the check to see. */
function Title({ check, index, model, actions, isOpen }: CheckProps & { isOpen: boolean }) {
  const { length } = model.view.checks
  const isPart = check.payments.some(({ mine }) => mine)
  const text =
    length > 1
      ? `Check ${index + 1} of ${length}`
      : isPart && check.balance_cents > 0
        ? 'Rest of the check'
        : 'Your check'
  const name = <span id={`check-${index}`}>{text}</span>
  if (!model.interactive || (isOpen && length === 1 && !isPart)) return <h2>{name}</h2>
  return (
    <h2>
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `rest-${index}` : undefined}
        onClick={() => actions.set({ open: isOpen ? null : check.external_id, form: false, mode: null })}
      >
        {name}
      </button>
    </h2>
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
            <Line name="Left to pay" amount={money(leftOf(check))} kind="grand" />
          </>
        )}
      </dl>
      {check.paid_cents > 0 && check.balance_cents > 0 && (
        <progress value={check.paid_cents} max={total_cents} aria-label="Paid so far" />
      )}
    </>
  )
}
