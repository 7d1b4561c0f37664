import { checkIdReused } from './check-id-reused.ts'
import { deltaSuspected } from './delta-suspected.ts'
import { changeOf, type Finding, type PushFindingCode, type PushSeen, type Rule } from './finding.ts'
import { itemIdReused } from './item-id-reused.ts'
import { itemIdUnstable } from './item-id-unstable.ts'
import { linesMerged } from './lines-merged.ts'
import { overpaid } from './overpaid.ts'
import { possibleLateRetry } from './possible-late-retry.ts'
import { quantityPrecision } from './quantity-precision.ts'
import { reopenNeedsRevision } from './reopen-needs-revision.ts'
import { revisionMissing } from './revision-missing.ts'
import { revisionReused } from './revision-reused.ts'
import { totalsMismatch } from './totals-mismatch.ts'
import { unitChange } from './unit-change.ts'
import { unknownField } from './unknown-field.ts'

export { conflictIgnored } from './conflict-ignored.ts'
export type { Finding, PushFindingCode, PushRefusal, PushSeen } from './finding.ts'
export { invalidPushRepeated, refusesTheBody } from './invalid-push-repeated.ts'
export { duplicateCheck, itemOnTwoChecks } from './item-on-two-checks.ts'
export { noIdempotentRetry } from './no-idempotent-retry.ts'
export { paidNotClosed } from './paid-not-closed.ts'
export { pushRefused } from './push-refused.ts'
export { stateOf } from './same-push.ts'

/** Rules of contract section 11 that a push and its predecessors can show, in its order. */
const rules = {
  totals_mismatch: totalsMismatch,
  unknown_field: unknownField,
  revision_missing: revisionMissing,
  revision_reused: revisionReused,
  reopen_needs_revision: reopenNeedsRevision,
  possible_late_retry: possibleLateRetry,
  item_id_reused: itemIdReused,
  item_id_unstable: itemIdUnstable,
  delta_suspected: deltaSuspected,
  quantity_precision: quantityPrecision,
  check_id_reused: checkIdReused,
  overpaid,
  lines_merged: linesMerged,
  unit_change: unitChange,
} satisfies Record<PushFindingCode, Rule>
const inOrder = Object.entries(rules) as [PushFindingCode, Rule][]

/**
 * What the sender of a push should look at. Findings never change an answer.
 *
 * @example
 * findingsOf({ body, push: parsePush(body), before: null, outcome: 'created', orderBy: 'revision', repeatsEarlier: false, now: new Date(), earlierStates: () => [] })
 */
export function findingsOf(seen: PushSeen): Finding[] {
  const followed = { ...seen, change: changeOf(seen) }
  const findings: Finding[] = []
  for (const [code, rule] of inOrder) {
    const message = rule(followed)
    if (message !== undefined) findings.push({ code, message })
  }
  return findings
}
