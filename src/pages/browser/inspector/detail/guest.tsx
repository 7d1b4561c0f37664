import { useState } from 'preact/hooks'
import type { Check } from '../../../../model/check.ts'
import { unclaimedQuantity } from '../../../../model/guests/claimed-items.ts'
import { digitsOf } from '../../../../model/text/money.ts'
import { claim, pay } from '../actions.ts'
import { money, session } from '../api.ts'
import { Action, Section } from '../elements.tsx'

/** Forms to act as a guest: claims an item, pays the balance or a part of it. */
export function Guest({ check }: { check: Check }) {
  const [name, setName] = useState('')
  const [typed, setTyped] = useState('')
  const guest_name = name.trim() === '' ? null : name.trim()
  const amount_cents = centsOf(typed)
  const isWrong = typed.trim() !== '' && amount_cents === undefined
  const payBalance = () =>
    pay(check.external_id, { guest_name, ...(amount_cents !== undefined && { amount_cents }) })
  return (
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
        {check.status === 'open' && (
          <ClaimForm
            check={check}
            onClaim={(id, quantity) => claim(check.external_id, guest_name, [{ external_id: id, quantity }])}
          />
        )}
        <div class="inline">
          <label>
            <span>Amount</span>
            <input
              type="text"
              inputMode="decimal"
              placeholder={`Balance: ${money.value(check.balance_cents)}`}
              aria-invalid={isWrong}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
          <Action kind="main" onClick={() => isWrong || payBalance()}>
            Pay
          </Action>
        </div>
      </form>
    </Section>
  )
}

function ClaimForm({ check, onClaim }: { check: Check; onClaim: (id: string, quantity: number) => void }) {
  const free = check.items
    .map((item) => ({ ...item, left: unclaimedQuantity(item) }))
    .filter(({ left, price_cents }) => left > 0 && price_cents >= 0)
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

/** Parses a typed amount into minor units; `undefined` unless it is a positive amount. */
function centsOf(typed: string): number | undefined {
  const { location = null } = typeof session.value === 'string' ? {} : session.value
  const value = Number(typed.trim().replace(',', '.'))
  const cents = Math.round(value * 10 ** digitsOf(location?.currency ?? ''))
  return typed.trim() !== '' && Number.isSafeInteger(cents) && cents > 0 ? cents : undefined
}
