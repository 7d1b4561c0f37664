import { checkIdReused, itemIdReused, itemIdUnstable } from './identity.ts'
import { deltaSuspected, linesMerged, unknownField } from './form.ts'
import { revisionOf } from '../model/check.ts'
import {
  changeOf,
  type Finding,
  type PushFindingCode,
  type PushHistory,
  type PushJudged,
  type PushSeen,
  type Rule,
} from './finding.ts'
import { overpaid, quantityPrecision, totalsMismatch, unitChange } from './amounts.ts'
import { possibleLateRetry, reopenNeedsRevision, revisionMissing, revisionReused } from './order.ts'

export {
  conflictIgnored,
  invalidPushRepeated,
  refusesTheBody,
  noIdempotentRetry,
  pushRefused,
  stateOf,
} from './refusals.ts'
export type { Finding, PushFindingCode, PushHistory, PushRefusal, PushSeen } from './finding.ts'
export { duplicateCheck, itemOnTwoChecks } from './identity.ts'
export { paidNotClosed } from './amounts.ts'

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

/** Rules that also need earlier requests. The log of requests applies them, because it has the order of all requests. */
const ofHistory = { possible_late_retry: possibleLateRetry, check_id_reused: checkIdReused }

/** Returns the findings that a push shows without earlier requests. */
export function findingsWithoutHistory(seen: Omit<PushSeen, keyof PushHistory>): Finding[] {
  return findingsOf({ ...seen, repeatsEarlier: false, earlierStates: () => [] }).filter(
    ({ code }) => !(code in ofHistory),
  )
}

/** Returns true when earlier requests may show a finding, which is rare. */
export function needsHistory({ push, before, outcome, orderBy }: Omit<PushJudged, 'now'>): boolean {
  if (before === null) return false
  const isUnordered = push.revision === undefined && revisionOf(before, orderBy) === null
  const takesEffect = outcome === 'updated' || outcome === 'conflict'
  return (isUnordered && takesEffect) || (before.status === 'closed' && push.status === 'open')
}

/** Adds the findings that earlier requests show. */
export function findingsWithHistory(
  findings: readonly Finding[],
  seen: PushJudged & PushHistory,
): readonly Finding[] {
  const added = Object.entries(ofHistory).flatMap(([code, rule]): Finding[] => {
    const message = rule(seen)
    return message === undefined ? [] : [{ code: code as keyof typeof ofHistory, message }]
  })
  const codes = Object.keys(rules)
  return added.length === 0
    ? findings
    : [...findings, ...added].toSorted((one, other) => codes.indexOf(one.code) - codes.indexOf(other.code))
}
