import { roundQuantity } from '../model/guests/claimed-items.ts'
import { some, type PushFollowed } from './finding.ts'

/** Finds lines of the same name and price that became one line with their quantities added. */
export function linesMerged({ change, before, push }: Pick<PushFollowed, 'change' | 'before' | 'push'>) {
  if (change === undefined || before === null || change.removed.length === 0) return undefined
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
