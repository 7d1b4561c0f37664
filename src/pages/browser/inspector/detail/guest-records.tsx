import { useState } from 'preact/hooks'
import type { ClaimView, FeedbackView, PaymentView } from '../../../../model/guests/records.ts'
import { digitsOf, isolated, minorUnitsIn } from '../../../../model/text/money.ts'
import { busy, pay, refund, release } from '../actions.ts'
import { outcome } from '../announce.tsx'
import type { List } from '../../../../model/simulator/list-queries.ts'
import { money, ownLocation, queryText } from '../api.ts'
import { Time } from '../clock.tsx'
import { Action, Badge, Section } from '../elements.tsx'
import { useRead } from '../live.ts'

/** Claims, payments and feedback of a check, with the actions on each. */
export function GuestRecords({ externalId }: { externalId: string }) {
  return (
    <>
      <Claims externalId={externalId} />
      <Payments externalId={externalId} />
      <AllFeedback externalId={externalId} />
    </>
  )
}

/** Returns the path of the newest 100 records of a check. */
function ofCheck(path: string, externalId: string): string {
  return `${path}${queryText({ limit: '100', external_check_id: externalId })}`
}

/** The claims on a check, with actions on active ones. */
function Claims({ externalId }: { externalId: string }) {
  const claims = useRead<List<ClaimView>>(ofCheck('/claims', externalId)).value?.data ?? []
  if (claims.length === 0) return null
  return (
    <Section title="Claims">
      <ul class="lines">
        {claims.map((claim) => (
          <li key={claim.id} class="claim">
            <span>
              {isolated(claim.guest_name ?? 'Guest')}, {money.value(claim.amount_cents)}{' '}
              <Badge word={claim.status} />
            </span>
            {claim.status === 'active' && (
              <span class="buttons">
                <Action
                  onClick={() =>
                    void pay(externalId, { guest_name: claim.guest_name, claim_ids: [claim.id] })
                  }
                >
                  Pay claim
                </Action>
                <Action onClick={() => release(claim.id)}>Release</Action>
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Payments({ externalId }: { externalId: string }) {
  const payments = useRead<List<PaymentView>>(ofCheck('/payments', externalId)).value?.data ?? []
  if (payments.length === 0) return null
  return (
    <Section title="Payments">
      <ul class="lines">
        {payments.map((payment) => (
          <Payment key={payment.id} payment={payment} />
        ))}
      </ul>
    </Section>
  )
}

function Payment({ payment }: { payment: PaymentView }) {
  const { id, guest_name, amount_cents, tip_cents, refunded_cents, status, created_at } = payment
  const rest = amount_cents - refunded_cents
  return (
    <li class="claim">
      <span>
        <Time at={created_at} /> {isolated(guest_name ?? 'Guest')}, {money.value(amount_cents)}
        {tip_cents > 0 && <span class="quiet"> and {money.value(tip_cents)} tip</span>}{' '}
        <Badge word={paymentWord(status)} />
        {refunded_cents > 0 && rest > 0 && <span class="quiet"> {money.value(refunded_cents)} refunded</span>}
      </span>
      {rest > 0 && <RefundForm id={id} rest={rest} />}
    </li>
  )
}

function paymentWord(status: PaymentView['status']): string {
  return status === 'succeeded' ? 'paid' : status.replace('_', ' ')
}

function RefundForm({ id, rest }: { id: string; rest: number }) {
  const [typed, setTyped] = useState('')
  const cents = centsOf(typed)
  const isWrong = typed.trim() !== '' && cents === undefined
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault()
        if (isWrong) return refuseAmount()
        void refund(id, cents).then((isDone) => isDone && setTyped(''))
      }}
    >
      <AmountField
        label="Refund amount"
        placeholder={`All: ${money.value(rest)}`}
        typed={typed}
        onType={setTyped}
      />
      <button aria-disabled={busy.value || undefined}>Refund</button>
    </form>
  )
}

function AllFeedback({ externalId }: { externalId: string }) {
  const feedback = useRead<List<FeedbackView>>(ofCheck('/feedback', externalId)).value?.data ?? []
  if (feedback.length === 0) return null
  return (
    <Section title="Feedback">
      <ul class="lines">
        {feedback.map(({ id, guest_name, rating, comment, created_at }) => (
          <li key={id}>
            <Time at={created_at} /> {isolated(guest_name ?? 'Guest')}{' '}
            <span role="img" aria-label={`${rating} of 5 stars`} class="stars">
              {'★'.repeat(rating)}
              {'☆'.repeat(5 - rating)}
            </span>{' '}
            {comment}
          </li>
        ))}
      </ul>
    </Section>
  )
}

interface AmountFieldProps {
  label: string
  placeholder: string
  typed: string
  onType: (text: string) => void
}

/** A field for an amount in the currency of the session's location. */
export function AmountField({ label, placeholder, typed, onType }: AmountFieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        type="text"
        inputMode="decimal"
        placeholder={placeholder}
        aria-invalid={typed.trim() !== '' && centsOf(typed) === undefined}
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </label>
  )
}

/** Says what a field for an amount takes. */
export function refuseAmount(): void {
  const example = (12.5).toFixed(digitsOf(ownLocation.value?.currency ?? ''))
  outcome.value = { text: `Enter an amount such as ${example}, without thousands separators.`, bad: true }
}

/** Parses a typed amount into minor units; `undefined` unless it is a positive amount. */
export function centsOf(typed: string): number | undefined {
  const cents = minorUnitsIn(typed, digitsOf(ownLocation.value?.currency ?? ''))
  return cents === 0 ? undefined : cents
}
