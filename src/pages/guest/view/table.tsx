import { isFullyPaid } from '../../../model/guests/claimed-items.ts'
import { moneyIn } from '../../../model/text/money.ts'
import { type Actions, type PageModel, ratingKey } from '../model.ts'
import { leftOf } from '../money.ts'
import { Button, type CheckProps, Choice, isBlocked, Line, type PartProps } from './elements.tsx'
import { Item } from './item.tsx'
import { Bar, Pay } from './pay.tsx'
import { PaidByOthers, Receipts } from './receipt.tsx'
import { count } from '../../../model/text/count.ts'

/** The guest page of a table (contract section 7); the service and the browser render the same component. */
export function Table({ model, actions }: { model: PageModel; actions: Actions }) {
  const props = { model, actions, money: moneyIn(model.view.location.currency, model.language) }
  const { checks } = model.view
  return (
    <>
      <Header {...props} />
      {model.interactive && <Notices {...props} />}
      <main class="checks" id="checks">
        {checks.length === 0 ? (
          <section class="sheet blank">
            <h2>No check yet</h2>
            <p>Your check appears here after you order. You do not need to reload the page.</p>
          </section>
        ) : (
          checks.map((check, index) => (
            <Check key={check.external_id} {...props} check={check} index={index} />
          ))
        )}
      </main>
    </>
  )
}

function Header({ model, actions }: PartProps) {
  const { location, table } = model.view
  return (
    <header class="top">
      <div>
        <p class="place">{location.name}</p>
        <h1>{`Table ${table.number}`}</h1>
      </div>
      {model.interactive && (
        <label class="name">
          <span>Your name</span>
          <input
            type="text"
            value={model.name}
            maxLength={40}
            autocomplete="given-name"
            placeholder="Optional"
            onInput={(event) => actions.rename(event.currentTarget.value)}
          />
        </label>
      )}
    </header>
  )
}

/** Connection state, the last message and announcements. Screen readers skip live regions that are added with their text. */
function Notices({ model: { announcement, connection, notice }, actions }: PartProps) {
  return (
    <div class="notices">
      <p class="spoken" role="status">
        {announcement}
      </p>
      <div role="status" id="connection">
        {connection !== 'live' && (
          <p class="notice">
            {connection === 'offline'
              ? 'You are offline. You can pay once you are online again.'
              : 'Reconnecting… You can pay once the connection is back.'}
          </p>
        )}
      </div>
      <div role="alert">
        {notice !== null && notice.at === undefined && (
          <div class={`notice${notice.isProblem ? ' problem' : ''}`}>
            <p>{notice.text}</p>
            <Button kind="plain" text="OK" press={() => actions.set({})} />
          </div>
        )}
      </div>
    </div>
  )
}

/** A check: its items and totals, and the guest's receipts, rating and payment. */
function Check(props: CheckProps) {
  const { check, index, model, money } = props
  const isPaid = isFullyPaid(check)
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

const ratings = [1, 2, 3, 4, 5]

/** The rating form: shown once this guest has paid, or the check is fully paid. */
function Rating({ check, index, model, actions }: CheckProps) {
  const isOffered = check.payments.some(({ mine }) => mine) || isFullyPaid(check)
  if (!isOffered) return null
  const key = ratingKey(check)
  if (model.rated.includes(key))
    return (
      <section class="sheet">
        <h2 id={`rated-${index}`} tabIndex={-1}>
          Thank you for your rating
        </h2>
      </section>
    )
  const given = model.rates === key ? model.rating : 0
  const choose = (rating: number) =>
    actions.set({ rates: key, rating, ...(model.rates !== key && { comment: '' }) })
  return (
    <section class="sheet">
      <fieldset class="stars">
        <legend>How was your meal?</legend>
        {ratings.map((rating) => (
          <Choice
            key={rating}
            group={`rating-${index}`}
            value={String(rating)}
            checked={given === rating}
            text={rating <= given ? '★' : '☆'}
            label={count(rating, 'star')}
            choose={() => choose(rating)}
          />
        ))}
      </fieldset>
      {given > 0 && (
        <>
          <label class="typed">
            <span>Comment (optional)</span>
            <textarea
              rows={3}
              maxLength={1000}
              value={model.comment}
              onInput={(event) => actions.set({ comment: event.currentTarget.value })}
            />
          </label>
          <Button
            kind="main second"
            text="Send rating"
            disabled={isBlocked(model)}
            press={() => actions.rate(check)}
          />
        </>
      )}
    </section>
  )
}
