import { useState } from 'preact/hooks'
import { Refused } from '../../call.ts'
import type { Check, CheckItem } from '../../../../model/check.ts'
import { unclaimedQuantity } from '../../../../model/guests/claimed-items.ts'
import { act, busy } from '../actions.ts'
import { callApi } from '../api.ts'
import { Action, StatusCode } from '../elements.tsx'

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
export function claimableItems({ items, status }: Check): (CheckItem & { left: number })[] {
  if (status === 'closed') return []
  return items
    .map((item) => ({ ...item, left: unclaimedQuantity(item) }))
    .filter(({ left, price_cents }) => left > 0 && price_cents >= 0)
}

/** Drives the service to its 409 responses: two guests claim the same item, then the POS removes it. */
export function GuestRace({ check }: { check: Check }) {
  const [race, setRace] = useState<Race>()
  const [item] = claimableItems(check)
  const path = `/checks/${encodeURIComponent(check.external_id)}`
  const claimTwice = (chosen: CheckItem & { left: number }) =>
    act(async () => {
      const items = [{ external_id: chosen.external_id, quantity: chosen.left }]
      const answers = await Promise.all(
        guests.map((guest_name) =>
          answerOf(guest_name, `Claimed ${chosen.name}.`, () =>
            callApi('POST', `${path}/claims`, { guest_name, items }),
          ),
        ),
      )
      setRace({ item: chosen, answers })
      return `${guests.join(' and ')} claimed ${chosen.name} at the same time.`
    })
  const removeItem = ({ item: raced, answers }: Race) =>
    act(async () => {
      const done = `Pushed the check without ${raced.name}.`
      const answer = await answerOf('POS', done, () => callApi('PUT', path, pushWithout(check, raced)))
      setRace({ item: raced, answers: [...answers.filter(({ who }) => who !== 'POS'), answer] })
      return `The POS pushed the check without ${raced.name}.`
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

/** Returns the answer to a call, also when the service refuses it. */
async function answerOf(who: string, done: string, call: () => Promise<unknown>): Promise<Answer> {
  try {
    await call()
    return { who, status: who === 'POS' ? 200 : 201, text: done }
  } catch (error) {
    if (!(error instanceof Refused) || error.status === undefined) throw error
    return { who, status: error.status, text: `${error.code}: ${error.message}` }
  }
}

/** Returns a push of the check without an item, as the newest revision. */
function pushWithout({ table, status, items, totals, revision }: Check, removed: CheckItem): object {
  const left = items.filter(({ external_id }) => external_id !== removed.external_id)
  return {
    table,
    status,
    items: left.map(({ external_id, name, quantity, price_cents, note }) => {
      return { external_id, name, quantity, price_cents, note }
    }),
    totals,
    ...(typeof revision === 'number' && { revision: revision + 1 }),
  }
}
