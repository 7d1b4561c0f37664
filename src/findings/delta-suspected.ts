import type { PushFollowed } from './finding.ts'
import { renamedItems } from './item-id-unstable.ts'

/**
 * Everything that was on the check vanished and only new items came: a push of what was ordered last. One item in the
 * place of one is an exchange, and items that came back under other ids are unstable ids; neither is a delta.
 */
export function deltaSuspected({ change, push }: Pick<PushFollowed, 'change' | 'push'>): string | undefined {
  if (change === undefined) return undefined
  const { added, removed } = change
  const allNew = added.length > 0 && added.length === push.items.length
  if (!allNew || removed.length < 2 || renamedItems(change).length > 0) return undefined
  return `All ${removed.length} items of the check vanished and ${added.length} new came. If these are only what was ordered last, the rest of the check is now lost. Push the complete list of items every time, not the difference.`
}
