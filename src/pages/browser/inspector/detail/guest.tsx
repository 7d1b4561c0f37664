import { useState } from 'preact/hooks'
import type { Check } from '../../../../model/check.ts'
import { claim, pay } from '../actions.ts'
import { money } from '../api.ts'
import { Action, Section } from '../elements.tsx'
import { rate } from '../guest-actions.ts'
import { AmountField, centsOf } from './amount.tsx'
import { claimableItems, GuestRace } from './guest-race.tsx'

/** Forms to act as a guest: claims an item, pays the balance or a part of it, rates, and races another guest. */
export function Guest({ check }: { check: Check }) {
  const [name, setName] = useState('')
  const [typed, setTyped] = useState('')
  const { external_id, status, balance_cents } = check
  const guest_name = name.trim() === '' ? null : name.trim()
  const amount_cents = centsOf(typed)
  const isWrong = typed.trim() !== '' && amount_cents === undefined
  const payBalance = () =>
    pay(external_id, { guest_name, ...(amount_cents !== undefined && { amount_cents }) })
  return (
    <>
      <Section title="Act as a guest">
        <form class="form" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span>Name</span>
            <input
              type="text"
              maxLength={255}
              placeholder="Guest"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          {status === 'open' && (
            <ClaimForm
              check={check}
              onClaim={(id, quantity) => claim(external_id, guest_name, [{ external_id: id, quantity }])}
            />
          )}
          {balance_cents > 0 && (
            <div class="inline">
              <AmountField
                label="Amount"
                placeholder={`Balance: ${money.value(balance_cents)}`}
                typed={typed}
                onType={setTyped}
              />
              <Action kind="main" onClick={() => isWrong || payBalance()}>
                Pay
              </Action>
            </div>
          )}
        </form>
        <RateForm onRate={(rating, comment) => rate(external_id, { guest_name, rating, comment })} />
      </Section>
      {status === 'open' && (
        <Section title="Guest race">
          <GuestRace check={check} />
        </Section>
      )}
    </>
  )
}

function ClaimForm({ check, onClaim }: { check: Check; onClaim: (id: string, quantity: number) => void }) {
  const free = claimableItems(check)
  const [chosen, setChosen] = useState('')
  const item = free.find(({ external_id }) => external_id === chosen) ?? free[0]
  if (item === undefined) return <p class="quiet">All items are claimed.</p>
  return (
    <div class="inline">
      <label>
        <span>Item</span>
        <select value={item.external_id} onChange={(event) => setChosen(event.currentTarget.value)}>
          {free.map(({ external_id, name, left }) => (
            <option key={external_id} value={external_id}>
              {name} ({left} left)
            </option>
          ))}
        </select>
      </label>
      <Action onClick={() => onClaim(item.external_id, Math.min(1, item.left))}>
        Claim {Math.min(1, item.left)}
      </Action>
    </div>
  )
}

const ratings = [5, 4, 3, 2, 1]

function RateForm({ onRate }: { onRate: (rating: number, comment: string | null) => void }) {
  const [rating, setRating] = useState(5)
  const [comment, setComment] = useState('')
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        onRate(rating, comment.trim() === '' ? null : comment.trim())
        setComment('')
      }}
    >
      <div class="inline rate">
        <label>
          <span>Rating</span>
          <select value={rating} onChange={(event) => setRating(Number(event.currentTarget.value))}>
            {ratings.map((stars) => (
              <option key={stars} value={stars}>
                {stars} of 5
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Comment</span>
          <input
            type="text"
            maxLength={1000}
            placeholder="optional"
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </label>
        <button>Rate</button>
      </div>
    </form>
  )
}
