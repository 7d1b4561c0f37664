import { useState } from 'preact/hooks'
import type { Check, CheckItem } from '../../../../model/check.ts'
import type { Revision } from '../../../../model/revision.ts'
import { isClaimable, unclaimedQuantity } from '../../../../model/guests/claimed-items.ts'
import { Refused } from '../../call.ts'
import { act, busy, claim, pay, rate } from '../actions.ts'
import { callApi, money } from '../api.ts'
import { Action, Section, StatusCode } from '../elements.tsx'
import { AmountField, centsOf, refuseAmount } from './guest-records.tsx'

/** Forms to act as a guest: claims an item, pays the balance or a part of it, rates, and races another guest. */
export function Guest({ check }: { check: Check }) {
  const [name, setName] = useState('')
  const [typed, setTyped] = useState('')
  const { external_id, status, balance_cents } = check
  const guest_name = name.trim() === '' ? null : name.trim()
  const amount_cents = centsOf(typed)
  const isWrong = typed.trim() !== '' && amount_cents === undefined
  const payBalance = async () => {
    if (isWrong) return refuseAmount()
    // A second click would pay the amount again.
    if (await pay(external_id, { guest_name, ...(amount_cents !== undefined && { amount_cents }) }))
      setTyped('')
  }
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
              <Action kind="main" onClick={() => void payBalance()}>
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

function RateForm({ onRate }: { onRate: (rating: number, comment: string | null) => Promise<boolean> }) {
  const [rating, setRating] = useState(5)
  const [comment, setComment] = useState('')
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        const sent = onRate(rating, comment.trim() === '' ? null : comment.trim())
        void sent.then((isDone) => isDone && setComment(''))
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
        <button aria-disabled={busy.value || undefined}>Rate</button>
      </div>
    </form>
  )
}

/** The answer to one request of a race. */
interface Answer {
  who: string
  status: number
  text: string
}

interface Race {
  item: CheckItem
  answers: readonly Answer[]
}

const guests = ['Anna', 'Ben'] as const

/** Returns the items that guests can claim, with the quantity that is left. */
function claimableItems({ items, status }: Check): (CheckItem & { left: number })[] {
  if (status === 'closed') return []
  return items.filter(isClaimable).map((item) => ({ ...item, left: unclaimedQuantity(item) }))
}

/** Drives the service to its 409 responses: two guests claim the same item, then the POS removes it. */
function GuestRace({ check }: { check: Check }) {
  const [race, setRace] = useState<Race>()
  const [item] = claimableItems(check)
  const path = `/checks/${encodeURIComponent(check.external_id)}`
  const claimTwice = (chosen: CheckItem & { left: number }) =>
    act(async () => {
      const items = [{ external_id: chosen.external_id, quantity: chosen.left }]
      const answers = await Promise.all(
        guests.map((guest_name) =>
          answerOf(guest_name, async () => {
            await callApi('POST', `${path}/claims`, { guest_name, items })
            return `Claimed ${chosen.name}.`
          }),
        ),
      )
      setRace({ item: chosen, answers })
      return `${guests.join(' and ')} tried to claim ${chosen.name} at the same time.`
    })
  const removeItem = ({ item: raced, answers }: Race) =>
    act(async () => {
      const { order_by } = await callApi<{ order_by: string }>('GET', '/health')
      const answer = await answerOf('POS', async () => {
        const { items } = await callApi<Check>('PUT', path, pushWithout(check, raced, order_by))
        return items.some(({ external_id }) => external_id === raced.external_id)
          ? `Ignored: the push has no newer ${order_by}.`
          : `Pushed the check without ${raced.name}.`
      })
      setRace({ item: raced, answers: [...answers.filter(({ who }) => who !== 'POS'), answer] })
      return `The POS tried to push the check without ${raced.name}.`
    })
  return (
    <div class="race">
      <p class="quiet">Two guests claim one item at the same time. The second one gets a 409.</p>
      <div class="buttons">
        {item !== undefined && (
          <Action onClick={() => void claimTwice(item)}>Race two guests for {item.name}</Action>
        )}
        {item === undefined && race === undefined && <p>No item is left to claim.</p>}
        {race !== undefined && (
          <Action onClick={() => void removeItem(race)}>Push the check without {race.item.name}</Action>
        )}
      </div>
      {race !== undefined && (
        <ul class="answers" aria-label="Responses" aria-busy={busy.value}>
          {race.answers.map(({ who, status, text }) => (
            <li key={who}>
              <b>{who}</b> <StatusCode status={status} /> {text}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Returns the answer to a call, whose text the call returns, also when the service refuses it. */
async function answerOf(who: string, call: () => Promise<string>): Promise<Answer> {
  try {
    return { who, text: await call(), status: who === 'POS' ? 200 : 201 }
  } catch (error) {
    if (!(error instanceof Refused) || error.status === undefined) throw error
    return { who, status: error.status, text: `${error.code}: ${error.message}` }
  }
}

/** Returns a push of the check without an item, as the newest revision in the field that orders pushes. */
function pushWithout(
  { table, status, items, totals, revision }: Check,
  removed: CheckItem,
  orderBy: string,
): object {
  const left = items.filter(({ external_id }) => external_id !== removed.external_id)
  return {
    table,
    status,
    items: left.map(({ external_id, name, quantity, price_cents, note }) => {
      return { external_id, name, quantity, price_cents, note }
    }),
    totals,
    ...(revision !== null && { [orderBy]: nextRevision(revision) }),
  }
}

/** Returns the next number, at most the largest one, or a time with one more decimal. */
function nextRevision(revision: Revision): Revision {
  return typeof revision === 'number'
    ? Math.min(revision + 1, Number.MAX_SAFE_INTEGER)
    : revision.replace('Z', '1Z')
}
