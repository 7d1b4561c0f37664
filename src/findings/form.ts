import { unknownFields } from '../model/check.ts'
import { roundQuantity } from '../model/guests/claimed-items.ts'
import { type PushSeen, type PushToCheck, some } from './finding.ts'
import { renamedItems } from './identity.ts'

/** Finds fields that a check does not have: often misspelt ones, whose values the sender believes to be stored. */
export function unknownField({ body, orderBy }: Pick<PushSeen, 'body' | 'orderBy'>): string | undefined {
  const paths = unknownFields(body, orderBy)
  if (paths.length === 0) return undefined
  return `Unknown fields of a check were ignored: ${some(paths, 5)}. Correct misspelled names and remove other fields: a service in strict mode refuses them.`
}

/**
 * Finds a push that removes all items and adds only new ones: probably a delta of the latest order. Replacing one item
 * by one is an exchange, and renamed ids are unstable ids; neither is a delta.
 */
export function deltaSuspected({ change, push }: Pick<PushToCheck, 'change' | 'push'>): string | undefined {
  if (change === undefined) return undefined
  const { added, removed } = change
  const allNew = added.length > 0 && added.length === push.items.length
  if (!allNew || removed.length < 2 || renamedItems(change).length > 0) return undefined
  return `The push removed all ${removed.length} items of the check and added ${added.length} new ones. If it has only the latest order, the other items are now lost. Push the complete list of items every time, not a delta.`
}

/** Finds lines of the same name and price that became one line with their quantities added. */
export function linesMerged({ change, before, push }: Pick<PushToCheck, 'change' | 'before' | 'push'>) {
  if (change === undefined || change.removed.length === 0) return undefined
  const kept = new Map(push.items.map((item) => [item.external_id, item]))
  const merged = before.items.flatMap((line) => {
    const after = kept.get(line.external_id)
    if (after === undefined || after.price_cents !== line.price_cents || after.name !== line.name) return []
    const twins = change.removed.filter(
      ({ name, price_cents }) => name === line.name && price_cents === line.price_cents,
    )
    const sum = twins.reduce((quantity, twin) => quantity + twin.quantity, line.quantity)
    if (twins.length === 0 || roundQuantity(sum) !== roundQuantity(after.quantity)) return []
    return [
      `${twins.map(({ external_id }) => external_id).join(', ')} into ${line.external_id} (${line.name})`,
    ]
  })
  if (merged.length === 0) return undefined
  return `Lines of the same item were merged: ${some(merged)}. Claims follow the external_id, so a claim on a vanished line makes the push a 409 conflict. Keep each line with its external_id for the life of the check.`
}
