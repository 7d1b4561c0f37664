import type { ItemDiff } from '../model/check-diff.ts'
import {
  type CheckItem,
  type OrderedPush,
  type PushedItem,
  revisionOf,
  type StoredCheck,
} from '../model/check.ts'
import { roundToThousandths } from '../model/guests/claimed-items.ts'
import { isLater } from '../model/revision.ts'
import type { PushOutcome } from '../model/simulator/request-entry.ts'
import type { Finding } from '../model/simulator/report.ts'
import { isNewer, plainName, type PushToCheck, some } from './finding.ts'
import { count } from '../model/text/count.ts'

/**
 * Finds an `external_id` that now names another thing. Claims follow the id, so guests would pay for the wrong item.
 */
export function itemIdReused({ change }: Pick<PushToCheck, 'change'>): string | undefined {
  const reused = (change?.changed ?? []).flatMap(({ external_id, changes }) =>
    changes
      .filter(({ field, from, to }) => field === 'name' && plainName(String(from)) !== plainName(String(to)))
      .map(
        ({ from, to }) =>
          `${external_id} was ${JSON.stringify(from)} and is ${JSON.stringify(to)} in this push`,
      ),
  )
  if (reused.length === 0) return undefined
  return `An external_id now names another item: ${some(reused)}. Claims follow the id, so a guest who claimed the old item would pay for the new one. Give each item its own external_id. Do not use its position.`
}

/**
 * Finds items with the same name, price and note under a new id while the old id vanished: the POS creates ids for each
 * push. Where another line of the same product stays, one of them was voided and ordered again.
 */
export function itemIdUnstable({ change, push }: Pick<PushToCheck, 'change' | 'push'>): string | undefined {
  const renamed = renamedItems(change, (one, other) => isSameProduct(one, other) && one.note === other.note)
    .filter(({ to }) => !hasKeptLine(to, change, push))
    .map(({ from, to }) => `${to.name} (${from.external_id} → ${to.external_id})`)
  if (renamed.length === 0) return undefined
  return `The same item has a new external_id: ${some(renamed)}. Items are matched by external_id, so a claim on the item causes a conflict. Keep the external_id of an item for the life of the check.`
}

/** Pairs each vanished item with an added one that is the same, each used once. */
function renamedItems(
  change: ItemDiff | undefined,
  isSame: (one: PushedItem, other: PushedItem) => boolean,
): { from: PushedItem; to: PushedItem }[] {
  const added = [...(change?.added ?? [])]
  return (change?.removed ?? []).flatMap((from) => {
    const at = added.findIndex((item) => isSame(item, from))
    const [to] = at < 0 ? [] : added.splice(at, 1)
    return to === undefined ? [] : [{ from, to }]
  })
}

function isSameProduct(one: PushedItem, other: PushedItem): boolean {
  return one.name === other.name && one.price_cents === other.price_cents
}

/** True when a line of the product of `item` is on the check before and after the push. */
function hasKeptLine(item: PushedItem, change: ItemDiff | undefined, { items }: Pick<OrderedPush, 'items'>) {
  const added = new Set(change?.added.map(({ external_id }) => external_id))
  return items.some((one) => isSameProduct(one, item) && !added.has(one.external_id))
}

/** A push that was never acknowledged may come late; a POS gives up retries sooner than that. */
const LATEST_RETRY_MS = 60 * 60_000

/**
 * Finds the external id of a closed check that comes back for another party: an open check without any earlier item, at
 * another table or with a lower revision. A push with a lower revision counts only when the revision was used before, or
 * an hour after closing; otherwise the push may be late.
 */
export function checkIdReused({
  push,
  before,
  outcome,
  orderBy,
  earlierStates,
  now,
}: Omit<PushToCheck, 'body' | 'change' | 'repeatsEarlier'>): string | undefined {
  if (before.status !== 'closed' || push.status !== 'open' || push.items.length === 0) return undefined
  const known = revisionOf(before, orderBy)
  const restarts = push.revision !== undefined && known !== null && isLater(known, push.revision)
  const moved = push.table.number !== before.table.number
  if (!moved && !restarts) return undefined
  const states = earlierStates()
  const isUsed = states.some((state) => revisionOf(state, orderBy) === push.revision)
  const isLong = before.closed_at !== null && now.getTime() - Date.parse(before.closed_at) >= LATEST_RETRY_MS
  if (restarts && !isUsed && !isLong) return undefined
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

/** Describes items that stand on two open checks with one id: tables were merged, and the first check was kept. */
export function itemOnTwoChecks(check: StoredCheck, other: StoredCheck, same: readonly CheckItem[]): Finding {
  const names = some(same.map(({ external_id, name }) => `${external_id} "${name}"`))
  return {
    code: 'item_on_two_checks',
    message: `The same items are on two open checks, ${check.external_id} and ${other.external_id}: ${names}. Guests of both tables can pay for them. After merging tables, push the emptied check too: without the items, and closed.`,
  }
}

/** Describes a check that came a second time under another external id; `undefined` when the contents differ. */
export function duplicateCheck(check: StoredCheck, other: StoredCheck): Finding | undefined {
  if (sharedContent(check) !== sharedContent(other)) return undefined
  return {
    code: 'duplicate_check',
    message: `The check was pushed under two external ids: ${check.external_id} has the same table, items and totals as ${other.external_id}. Guests at table ${check.table.number} see the bill twice. Store the external id with the check before the first push, and use it in every retry.`,
  }
}

function sharedContent({ table, items, totals }: StoredCheck): string {
  const lines = items.map(({ external_id, name, quantity, price_cents }) => [
    external_id,
    name,
    quantity,
    price_cents,
  ])
  return JSON.stringify([table.number, lines, totals.subtotal_cents, totals.tax_cents, totals.total_cents])
}

/**
 * Finds a push that removes all items and adds only new ones: probably a delta of the latest order. Replacing a single item
 * is an exchange, and renamed ids are unstable ids. A closed check that comes back at another table gets the items of another
 * party. None of these is a delta.
 */
export function deltaSuspected({
  change,
  before,
  push,
  outcome,
}: Pick<PushToCheck, 'change' | 'before' | 'push' | 'outcome'>): string | undefined {
  const isReused = before.status === 'closed' && before.table.number !== push.table.number
  if (change === undefined || isReused) return undefined
  const { added, removed } = change
  const allNew = added.length > 0 && added.length === push.items.length
  if (!allNew || removed.length < 2 || renamedItems(change, isSameProduct).length > 0) return undefined
  const did = replacedOrNot(outcome, `all ${removed.length} items`, added)
  return `The push ${did}. ${ONLY_LATEST}`
}

const ONLY_LATEST =
  'A push that has only the latest order removes all other items. Push the complete list of items every time, not a delta.'

/** Says what a push did to the items, or would have done if it had not been refused. */
function replacedOrNot(outcome: PushOutcome, removed: string, added: readonly PushedItem[]): string {
  const items = count(added.length, 'new item')
  return outcome === 'conflict'
    ? `would have removed ${removed} of the check and added ${items}, and was refused`
    : `removed ${removed} of the check and added ${items}`
}

/** True when a push has none of the items that were there: a delta, or an exchange. */
export function replacesAll(before: readonly PushedItem[], after: readonly PushedItem[]): boolean {
  if (before.length === 0 || after.length === 0) return false
  const ids = new Set(before.map(({ external_id }) => external_id))
  return !after.some(({ external_id }) => ids.has(external_id))
}

/**
 * Finds a push that replaces the only item of a check after an earlier push replaced all items, too: a sender of deltas
 * that pushes each item alone. `deltaSuspected` finds those that remove more.
 */
export function deltaRepeated({
  push,
  before,
  outcome,
  earlierStates,
}: Pick<PushToCheck, 'push' | 'before' | 'outcome' | 'earlierStates'>): string | undefined {
  if (!isNewer(outcome) || before.items.length !== 1 || !isExchange(before, push)) return undefined
  const states = earlierStates()
  // An exchange that is undone brings back an earlier item.
  if (states.some(({ items }) => items.length > 0 && !replacesAll(items, push.items))) return undefined
  const isRepeated = states.some((state, at) => at > 0 && isExchange(states[at - 1] ?? state, state))
  if (!isRepeated) return undefined
  const did = replacedOrNot(outcome, 'the only item', push.items)
  return `The push ${did}, after an earlier push had replaced all items, too. ${ONLY_LATEST}`
}

/** True when all items of a check are replaced by other products; a closed check gets those of another party. */
function isExchange({ status, items }: StoredCheck, after: { items: readonly PushedItem[] }): boolean {
  if (status === 'closed' || !replacesAll(items, after.items)) return false
  return !items.some((item) => after.items.some((one) => isSameProduct(one, item)))
}

/** Finds lines of the same name and price that became one line with their quantities added. */
export function linesMerged({ change, before, push }: Pick<PushToCheck, 'change' | 'before' | 'push'>) {
  if (change === undefined || change.removed.length === 0) return undefined
  const kept = new Map(push.items.map((item) => [item.external_id, item]))
  const merged = before.items.flatMap((line) => {
    const after = kept.get(line.external_id)
    if (after === undefined || !isSameProduct(after, line)) return []
    const twins = change.removed.filter((item) => isSameProduct(item, line))
    const sum = twins.reduce((quantity, twin) => quantity + twin.quantity, line.quantity)
    if (twins.length === 0 || roundToThousandths(sum) !== roundToThousandths(after.quantity)) return []
    return [
      `${twins.map(({ external_id }) => external_id).join(', ')} into ${line.external_id} (${line.name})`,
    ]
  })
  if (merged.length === 0) return undefined
  return `Lines of the same item were merged: ${some(merged)}. Claims follow the external_id, so a claim on a vanished line makes the push a 409 conflict. Keep each line with its external_id for the life of the check.`
}
