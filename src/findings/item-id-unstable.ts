import type { ItemDiff } from '../model/check-diff.ts'
import { some, type PushFollowed } from './finding.ts'

/**
 * Finds items with the same name and price under a new id while the old id vanished: the POS creates ids for each push.
 */
export function itemIdUnstable({ change }: Pick<PushFollowed, 'change'>): string | undefined {
  const renamed = renamedItems(change).map(({ name, from, to }) => `${name} (${from} → ${to})`)
  if (renamed.length === 0) return undefined
  return `The same item has a new external_id: ${some(renamed)}. Items are matched by external_id, so a claim on the item causes a conflict. Keep the external_id of an item for the life of the check.`
}

/** Pairs each vanished item with an added one of its name and price, each used once. */
export function renamedItems(change: ItemDiff | undefined): { name: string; from: string; to: string }[] {
  const added = [...(change?.added ?? [])]
  return (change?.removed ?? []).flatMap(({ external_id, name, price_cents }) => {
    const at = added.findIndex((item) => item.name === name && item.price_cents === price_cents)
    const [twin] = at < 0 ? [] : added.splice(at, 1)
    return twin === undefined ? [] : [{ name, from: external_id, to: twin.external_id }]
  })
}
