import { Button, Choice, type CheckProps, isBlocked } from './elements.tsx'

const ratings = [1, 2, 3, 4, 5]

/** The rating form: shown once this guest has paid, or the check is fully paid. */
export function Rating({ check, index, model, actions }: CheckProps) {
  const isOffered =
    check.payments.some(({ mine }) => mine) || (check.paid_cents > 0 && check.balance_cents <= 0)
  if (!isOffered) return null
  if (model.rated.includes(check.external_id))
    return (
      <section class="sheet">
        <h2 tabIndex={-1}>Thank you for your rating</h2>
      </section>
    )
  return (
    <section class="sheet">
      <fieldset class="stars">
        <legend>How was your meal?</legend>
        {ratings.map((rating) => (
          <Choice
            key={rating}
            group={`rating-${index}`}
            value={String(rating)}
            checked={model.rating === rating}
            text={rating <= model.rating ? '★' : '☆'}
            label={rating === 1 ? '1 star' : `${rating} stars`}
            choose={() => actions.set({ rating })}
          />
        ))}
      </fieldset>
      {model.rating > 0 && (
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
