import type { ApiFaultKind } from './fault-kinds.ts'
import type { CheckChange, ItemDiff } from '../check-diff.ts'
import type { FindingCode } from './report.ts'

/** How a push ended: `conflict` is the refusal of specification section 4, rule 4. */
export const pushOutcomes = ['created', 'updated', 'unchanged', 'stale', 'conflict'] as const

export type PushOutcome = (typeof pushOutcomes)[number]

/** Outcome, diff and findings of a push, beside its answer (contract sections 10 and 11). */
export interface PushNote {
  external_check_id: string
  outcome: PushOutcome
  diff: ItemDiff | null
  /** Fields of the check that an update changed, beside its items; left out when there are none. */
  changes?: readonly CheckChange[]
  findings: readonly { code: FindingCode; message: string }[]
}

/** A request as `/_sim/requests` shows it. Headers are left out, so that no key is ever in it. */
export interface LoggedRequest {
  id: string
  /** `-` when the request line could not be read; so is `path` then. */
  method: string
  path: string
  status: number
  started_at: string
  duration_ms: number
  push: PushNote | null
  /** Findings of a push that was refused before it was decided, and so has no note; left out when there are none. */
  findings?: PushNote['findings']
  request_body: string | null
  response_body: string | null
  /** Faults that were injected. */
  faults?: readonly ApiFaultKind[]
}

/**
 * Begins the external ids of checks that our own commands push to try something out. What comes of them says nothing
 * about the integration under test, so its report leaves them out.
 */
export const TRIAL_PREFIX = 'tabwire-trial-'

/** Whether a path such as `/v1/checks/external/tabwire-trial-1` names a check of our own. */
export function isTrialPath(path: string): boolean {
  return path.startsWith(`/v1/checks/external/${TRIAL_PREFIX}`)
}
