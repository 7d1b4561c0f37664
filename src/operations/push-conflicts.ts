import type { OrderedPush, PushedItem, StoredCheck } from '../model/check.ts'
import type { DetailsOf } from '../model/error-details.ts'
import { type Claim } from '../model/guests/records.ts'
import {
  claimableQuantity,
  claimedQuantities,
  isFullyPaid,
  roundToThousandths,
} from '../model/guests/claimed-items.ts'
import { Refusal } from '../model/refusal.ts'

/**
 * An item that makes a push a 409 conflict: guests claimed more than the push leaves (specification section 4, rule 4).
 * `claimed_quantity` is the whole quantity on a fully paid check.
 */
type Conflict = DetailsOf<'conflict_with_paid_items'>['conflicts'][number]

/** Refusal of a push, with the check that it conflicts with. */
export class PushConflict extends Refusal {
  readonly before: StoredCheck

  constructor(message: string, conflicts: readonly Conflict[], before: StoredCheck) {
    super('conflict_with_paid_items', message, { conflicts })
    this.before = before
  }
}

/**
 * Refuses a push that removes claimed items (contract section 6, rule 3). `unreleased` are the check's active and paid
 * claims.
 * @throws PushConflict that lists all conflicts.
 */
export function refuseConflicts(
  check: StoredCheck,
  { items, totals }: Pick<OrderedPush, 'items' | 'totals'>,
  unreleased: readonly Claim[],
): void {
  const conflicts = conflictsOf(check, items, unreleased)
  if (conflicts.length === 0) return
  const names = conflicts.map(({ external_id, reason }) => `${external_id} (${reason})`).join(', ')
  const moved = movedLines(check, items, conflicts)
  const hint = moved.length === 0 ? '' : ` ${moved.join(' ')} Keep the external_id of a claimed item.`
  const isPaid = isFullyPaid(check)
  const why = isPaid
    ? 'The push removes or reduces items of a fully paid check'
    : 'The push removes or reduces items that guests have claimed'
  const overpaid =
    isPaid && check.paid_cents > totals.total_cents
      ? ` Guests paid more (paid_cents ${check.paid_cents}) than the pushed total_cents ${totals.total_cents}.`
      : ''
  const way = isPaid
    ? 'refund the payments first, in full where they paid claims of these items'
    : 'release or refund their claims first'
  throw new PushConflict(
    `${why}: ${names}. The check is unchanged.${overpaid}${hint} Keep these items in the push, or ${way}.`,
    conflicts,
    check,
  )
}

/**
 * Returns the conflicts of a push, in the order of the check's items. Prices are compared with the current check. On a
 * fully paid check every item counts as paid.
 */
function conflictsOf(
  check: StoredCheck,
  pushed: readonly PushedItem[],
  unreleased: readonly Claim[],
): Conflict[] {
  const isPaid = isFullyPaid(check)
  if (!isPaid && unreleased.length === 0) return []
  const after = new Map(pushed.map((item) => [item.external_id, item]))
  const claimed = claimedQuantities(unreleased, ['active', 'paid'])
  const conflicts: Conflict[] = []
  for (const { external_id, quantity, price_cents } of check.items) {
    const claimed_quantity = isPaid ? quantity : (claimed.get(external_id) ?? 0)
    if (claimed_quantity === 0) continue
    const item = after.get(external_id)
    const conflict = (reason: Conflict['reason']) => conflicts.push({ external_id, reason, claimed_quantity })
    if (item === undefined) {
      conflict('removed')
      continue
    }
    if (item.price_cents < price_cents) conflict('price_decreased')
    if (claimableQuantity(item.quantity) < claimableQuantity(claimed_quantity))
      conflict('quantity_below_claimed')
  }
  return conflicts
}

/** Describes missing items that look split or renamed: new items have the same name and price. */
function movedLines(
  check: StoredCheck,
  pushed: readonly PushedItem[],
  conflicts: readonly Conflict[],
): string[] {
  const known = new Map(check.items.map((item) => [item.external_id, item]))
  const after = new Map(pushed.map((item) => [item.external_id, item]))
  const added = pushed.filter(({ external_id }) => !known.has(external_id))
  return conflicts.flatMap(({ external_id, reason }) => {
    const line = known.get(external_id)
    if (line === undefined || reason === 'price_decreased') return []
    const twins = added.filter(
      ({ name, price_cents }) => name === line.name && price_cents === line.price_cents,
    )
    const kept = after.get(external_id)?.quantity ?? 0
    const sum = twins.reduce((quantity, twin) => quantity + twin.quantity, kept)
    if (twins.length === 0 || roundToThousandths(sum) !== roundToThousandths(line.quantity)) return []
    const ids = twins.map((twin) => twin.external_id)
    return twins.length === 1 && kept === 0
      ? [`Item ${external_id} looks renamed to ${ids.join('')}.`]
      : [`Item ${external_id} looks split into ${[...(kept > 0 ? [external_id] : []), ...ids].join(', ')}.`]
  })
}
