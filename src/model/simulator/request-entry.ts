import type { ApiFaultKind } from './fault-kinds.ts'
import type { CheckChange } from '../check-changes.ts'
import type { FindingCode } from './finding-code.ts'
import type { ItemDiff } from '../item-diff.ts'

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
