import { isClaimable, unclaimedQuantity } from '../../../model/guests/claimed-items.ts'
import { isolated } from '../../../model/text/money.ts'
import type { TableCheck, TableClaim } from '../../../model/guests/guest-table.ts'
import { Button, type CheckProps, isBlocked, quantityText } from './elements.tsx'

type CheckItem = TableCheck['items'][number]

interface ItemProps extends CheckProps {
  item: CheckItem
}

/** One item of a check: name, the guests who had it, price, and the controls to claim or release it. */
export function Item(props: ItemProps) {
  const { check, item, model, money } = props
  const { note, quantity, price_cents } = item
  const notice = model.notice
  const isNamed = notice?.at?.[0] === check.external_id && notice.at[1] === item.external_id
  const own = ownOf(check, item)
  return (
    <li class={`item${own.length > 0 ? ' own' : ''}`}>
      <div class="what">
        <span class="dish">{item.name}</span>
        <div class="about">
          {note !== null && note !== '' && <span class="remark">{note}</span>}
          {quantity !== 1 && (
            <span>{`${quantityText(quantity, model.language)} × ${money(price_cents)}`}</span>
          )}
          <Takers {...props} />
        </div>
      </div>
      <div class="costs">
        <span class="amount">{money(Math.round(quantity * price_cents))}</span>
        {model.interactive && check.status === 'open' && check.balance_cents > 0 && (
          <Controls {...props} own={own} />
        )}
      </div>
      {isNamed && (
        <p class="clash" tabIndex={-1}>
          {notice.text}
        </p>
      )}
    </li>
  )
}

/** Returns the guest's unpaid claims of an item. */
function ownOf({ claims }: TableCheck, item: CheckItem): TableClaim[] {
  return claims.filter((claim) => claim.mine && claim.status === 'active' && takenBy(claim, item) > 0)
}

function takenBy({ items }: TableClaim, { external_id }: CheckItem): number {
  const lines = items.filter((line) => line.external_id === external_id)
  return lines.reduce((sum, { quantity }) => sum + quantity, 0)
}

function Takers({ check, item, model }: ItemProps) {
  const takers = takersOf(check.claims, item)
  if (takers.length === 0) return null
  return (
    <ul class="takers" aria-label={`Guests who had ${item.name}`}>
      {takers.map(({ name, mine, paid, quantity }, index) => (
        <li key={index} class={`taker${mine ? ' mine' : ''}`}>
          {`${isolated(name)} · ${quantityText(quantity, model.language)}${paid ? ' · paid' : ''}`}
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
    const quantity = takenBy(claim, item)
    if (quantity === 0) continue
    const { mine, guest_name } = claim
    const name = mine ? 'You' : (guest_name ?? 'Guest')
    const paid = claim.status === 'paid'
    const key = JSON.stringify([name, mine, paid])
    takers.set(key, { name, mine, paid, quantity: quantity + (takers.get(key)?.quantity ?? 0) })
  }
  return [...takers.values()]
}

/**
 * The button that covers the row claims one unit (or the rest, when it is less); when nothing is left, it releases the
 * guest's last claim. Further buttons release the last claim earlier, or claim all units of a large quantity.
 */
function Controls({ check, item, model, actions, own }: ItemProps & { own: readonly TableClaim[] }) {
  const left = isClaimable(item) ? unclaimedQuantity(item) : 0
  const take = Math.min(1, left)
  const last = own.at(-1)
  const text = (quantity: number) => quantityText(quantity, model.language)
  const disabled = isBlocked(model)
  const claim = (quantity: number) => actions.claim(check, item.external_id, quantity)
  const release = () => last !== undefined && actions.release(check, item.external_id, last.id)
  return (
    <div class="controls" role="group" aria-label={item.name}>
      {left > 2 && last === undefined && (
        <Button
          kind="all"
          // Four digits leave a phone too little room for the item's name.
          text={left < 1000 ? `All ${text(left)}` : 'All'}
          label={`I had all ${text(left)} ${item.name}`}
          disabled={disabled}
          press={() => claim(left)}
        />
      )}
      {last !== undefined && left > 0 && (
        <Button kind="step" text="−" label={`Remove ${item.name}`} disabled={disabled} press={release} />
      )}
      {(left > 0 || last !== undefined) && (
        <Button
          key="row"
          kind="take"
          text={left > 0 ? '+' : '✓'}
          label={
            left > 0
              ? `${last === undefined ? 'I had this:' : 'Add'} ${text(take)} ${item.name}`
              : `Remove ${item.name}`
          }
          disabled={disabled}
          press={left > 0 ? () => claim(take) : release}
        />
      )}
    </div>
  )
}
