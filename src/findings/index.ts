import {
  checkIdReused,
  deltaRepeated,
  deltaSuspected,
  itemIdReused,
  itemIdUnstable,
  linesMerged,
  replacesAll,
} from './identity.ts'
import { textEncoding, unknownField } from './refusals.ts'
import { revisionOf } from '../model/check.ts'
import { type Finding, findingCodes } from '../model/simulator/report.ts'
import {
  changeOf,
  isNewer,
  type PushFindingCode,
  type PushJudged,
  type PushToCheck,
  type Rule,
} from './finding.ts'
import { overpaid, quantityPrecision, totalsMismatch, unitChange } from './amounts.ts'
import {
  possibleLateRetry,
  reopenNeedsRevision,
  revisionMissing,
  revisionRestarted,
  revisionReused,
  revisionsMixed,
} from './order.ts'

export {
  CONFLICT,
  conflictIgnored,
  conflictKept,
  invalidPushRepeated,
  refusesTheBody,
  noIdempotentRetry,
  pushRefused,
  unreadNotRepeated,
  keysOf,
} from './refusals.ts'
export type { Finding } from '../model/simulator/report.ts'
export type { PushFindingCode, PushRefusal, PushSeen } from './finding.ts'
export { duplicateCheck, itemOnTwoChecks } from './identity.ts'
export { paidNotClosed } from './amounts.ts'

/** Rules of contract section 11 about a push alone. */
const ofPush = {
  totals_mismatch: totalsMismatch,
  unknown_field: unknownField,
  quantity_precision: quantityPrecision,
  text_encoding: textEncoding,
}
/** Rules that compare a push with the state before. */
const ofChange = {
  revision_missing: revisionMissing,
  revision_reused: revisionReused,
  reopen_needs_revision: reopenNeedsRevision,
  item_id_reused: itemIdReused,
  item_id_unstable: itemIdUnstable,
  delta_suspected: deltaSuspected,
  overpaid,
  lines_merged: linesMerged,
  unit_change: unitChange,
}
/** Rules that also need earlier requests. The log of requests applies them, because it has the order of all requests. */
const ofHistory = {
  revision_missing: revisionsMixed,
  revision_reused: revisionRestarted,
  possible_late_retry: possibleLateRetry,
  check_id_reused: checkIdReused,
  delta_suspected: deltaRepeated,
}

/**
 * Returns the findings of a push that need no earlier requests. Findings never change a response.
 *
 * @example
 * findingsOf({ body, push: parsePush(body), before: null, outcome: 'created', orderBy: 'revision', now: new Date() })
 */
export function findingsOf(seen: PushJudged): Finding[] {
  const { before, push, outcome } = seen
  const found = shownBy(ofPush, seen)
  if (before === null) return found
  const compared = { ...seen, before, change: changeOf({ push, before, outcome }) }
  return inOrder([...found, ...shownBy(ofChange, compared)])
}

function shownBy<Seen>(rules: Readonly<Partial<Record<PushFindingCode, Rule<Seen>>>>, seen: Seen): Finding[] {
  const findings: Finding[] = []
  for (const [code, rule] of Object.entries(rules)) {
    const message = rule(seen)
    if (message !== undefined) findings.push({ code: code as PushFindingCode, message })
  }
  return findings
}

/** Sorts findings as contract section 11 lists them. */
function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => findingCodes.indexOf(one.code) - findingCodes.indexOf(other.code))
}

/** Returns true when earlier requests may show a finding, which is rare. */
export function needsHistory({ push, before, outcome, orderBy }: Omit<PushJudged, 'body' | 'now'>): boolean {
  if (before === null) return false
  const isUnordered = push.revision === undefined && revisionOf(before, orderBy) === null
  if (before.status === 'closed' && push.status === 'open') return true
  if (outcome === 'stale' && push.revision !== undefined) return true
  return isNewer(outcome) && (isUnordered || replacesAll(before.items, push.items))
}

/** Adds the findings that earlier requests show. */
export function findingsWithHistory(
  findings: readonly Finding[],
  seen: Omit<PushToCheck, 'body' | 'change'>,
): readonly Finding[] {
  const added = shownBy(ofHistory, seen)
  return added.length === 0 ? findings : inOrder([...findings, ...added])
}
