import type { PushFollowed } from './finding.ts'
import { renamedItems } from './item-id-unstable.ts'

/**
 * Finds a push that removes all items and adds only new ones: probably a delta of the latest order. Replacing one item
 * by one is an exchange, and renamed ids are unstable ids; neither is a delta.
 */
export function deltaSuspected({ change, push }: Pick<PushFollowed, 'change' | 'push'>): string | undefined {
  if (change === undefined) return undefined
  const { added, removed } = change
  const allNew = added.length > 0 && added.length === push.items.length
  if (!allNew || removed.length < 2 || renamedItems(change).length > 0) return undefined
  return `The push removed all ${removed.length} items of the check and added ${added.length} new ones. If it has only the latest order, the other items are now lost. Push the complete list of items every time, not a delta.`
}
