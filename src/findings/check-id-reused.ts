import { revisionOf, type PushedItem } from '../model/check.ts'
import { isLater } from '../model/revision.ts'
import { plainName, type PushSeen } from './finding.ts'

/** A push that was never acknowledged may come late; a POS gives up retries sooner than that. */
const LATEST_RETRY_MS = 60 * 60_000

/**
 * Finds the external id of a closed check that comes back for another party: the check is open, no item of it was ever
 * on the check, and the table is another one, or the revision begins again: it was used before, or an hour has passed
 * since closing. Late pushes carry items of the check.
 */
export function checkIdReused({
  push,
  before,
  outcome,
  orderBy,
  earlierStates,
  now,
}: Omit<PushSeen, 'body'>): string | undefined {
  if (before?.status !== 'closed' || push.status !== 'open' || push.items.length === 0) return undefined
  const known = revisionOf(before, orderBy)
  const restarts = push.revision !== undefined && known !== null && isLater(known, push.revision)
  const moved = push.table.number !== before.table.number
  if (!moved && !restarts) return undefined
  const states = earlierStates()
  const isUsed = states.some((state) => revisionOf(state, orderBy) === push.revision)
  const isLong = before.closed_at !== null && now.getTime() - Date.parse(before.closed_at) >= LATEST_RETRY_MS
  if (!moved && !isUsed && !isLong) return undefined
  const earlier = new Set([before, ...states].flatMap(({ items }) => items.map(identity)))
  if (push.items.some((item) => earlier.has(identity(item)))) return undefined
  const effect =
    outcome === 'updated'
      ? 'The closed check of the earlier party is open again and has the items of the new one'
      : 'The service keeps the closed check of the earlier party, and the guests at the table see nothing'
  const restarted = restarts ? ` ${orderBy} begins again at ${push.revision}.` : ''
  return `This external_check_id belonged to a check that was closed at ${before.closed_at}, and comes back for another party: other items${moved ? `, table ${push.table.number} after ${before.table.number}` : ''}.${restarted} ${effect}. Give each check an id that is never used again, for example with the business day in it.`
}

function identity({ external_id, name }: PushedItem): string {
  return `${external_id}\n${plainName(name)}`
}
