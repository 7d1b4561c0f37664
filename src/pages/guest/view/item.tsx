import { unclaimedQuantity } from '../../../model/guests/claimed-items.ts'
import type { TableCheck, TableClaim } from '../../../model/guest-table/view.ts'
import { type CheckProps, quantityText } from './elements.tsx'

type CheckItem = TableCheck['items'][number]

interface ItemProps extends CheckProps {
  item: CheckItem
}

/** One item of a check: name, price, the guests who had it, and the controls to claim or release it. */
export function Item(props: ItemProps) {
  const { item, model, money } = props
  return (
    <li class="item">
      <div class="row">
        <div class="what">
          <span class="dish">{item.name}</span>
          {item.note !== null && item.note !== '' && <span class="remark">{item.note}</span>}
          {item.quantity !== 1 && (
            <span class="quiet">
              {`${quantityText(item.quantity, model.language)} × ${money(item.price_cents)}`}
            </span>
          )}
        </div>
        <span class="amount">{money(Math.round(item.quantity * item.price_cents))}</span>
      </div>
      <div class="row doing">
        <Takers {...props} />
        {model.interactive && <Controls {...props} />}
      </div>
    </li>
  )
}

function Takers({ check, item, model }: ItemProps) {
  const takers = takersOf(check.claims, item)
  if (takers.length === 0) return null
  return (
    <ul class="takers" aria-label={`Guests who had ${item.name}`}>
      {takers.map(({ name, mine, paid, quantity }, index) => (
        <li key={index} class={`taker${mine ? ' mine' : ''}${paid ? ' paid' : ''}`}>
          {`${name} · ${quantityText(quantity, model.language)}${paid ? ' · paid' : ''}`}
        </li>
      ))}
    </ul>
  )
}

interface Taker {
  name: string
  mine: boolean
  paid: boolean
  quantity: number
}

/** Returns how much of an item each guest has claimed; claims of one guest are added up. */
function takersOf(claims: readonly TableClaim[], item: CheckItem): Taker[] {
  const takers = new Map<string, Taker>()
  for (const claim of claims) {
    const quantity = takenBy([claim], item)
    if (quantity === 0) continue
    const { mine, guest_name } = claim
    const name = mine ? 'You' : (guest_name ?? 'Guest')
    const paid = claim.status === 'paid'
    const key = JSON.stringify([name, mine, paid])
    takers.set(key, { name, mine, paid, quantity: quantity + (takers.get(key)?.quantity ?? 0) })
  }
  return [...takers.values()]
}

/** Buttons that claim one unit (or the rest, when it is less), claim all units, or release the guest's last claim. */
function Controls({ check, item, model, actions }: ItemProps) {
  if (check.status === 'closed' || check.balance_cents <= 0 || item.price_cents < 0) return null
  const left = unclaimedQuantity(item)
  const own = check.claims.filter(
    ({ mine, status, items }) =>
      mine && status === 'active' && items.some(({ external_id }) => external_id === item.external_id),
  )
  const last = own.at(-1)
  if (left <= 0 && last === undefined) return null
  const take = Math.min(1, left)
  const disabled = model.busy ? 'true' : undefined
  const text = (quantity: number) => quantityText(quantity, model.language)
  return (
    <div class="controls" role="group" aria-label={item.name}>
      {last !== undefined && (
        <>
          <button
            type="button"
            class="step"
            aria-label={`Remove ${item.name}`}
            aria-disabled={disabled}
            onClick={() => actions.release(last.id)}
          >
            −
          </button>
          <span class="count" aria-hidden="true">
            {text(takenBy(own, item))}
          </span>
        </>
      )}
      {left > 0 && (
        <button
          type="button"
          class={last === undefined ? 'take' : 'step'}
          aria-label={`${last === undefined ? 'I had this:' : 'Add'} ${text(take)} ${item.name}`}
          aria-disabled={disabled}
          onClick={() => actions.claim(check, item.external_id, take)}
        >
          {last === undefined ? 'I had this' : '+'}
        </button>
      )}
      {left > 1 && (
        <button
          type="button"
          class="take all"
          aria-label={`I had all ${text(left)} ${item.name}`}
          aria-disabled={disabled}
          onClick={() => actions.claim(check, item.external_id, left)}
        >
          {`All ${text(left)}`}
        </button>
      )}
    </div>
  )
}

function takenBy(claims: readonly TableClaim[], { external_id }: CheckItem): number {
  const lines = claims.flatMap(({ items }) => items).filter((line) => line.external_id === external_id)
  return lines.reduce((sum, { quantity }) => sum + quantity, 0)
}
