import type { ApiFaultKind } from './fault-kinds.ts'
import type { CheckChange } from '../check-changes.ts'
import type { FindingCode } from './finding-code.ts'
import type { ItemDiff } from '../item-diff.ts'

/** What is found out about a push beside its answer (contract sections 10 and 11). */
export interface PushNote {
  external_check_id: string
  outcome: 'created' | 'updated' | 'unchanged' | 'stale' | 'conflict'
  diff: ItemDiff | null
  /** What else of the check an update changed; left out when there is nothing. */
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
  /** What is odd about a push that came to nothing, and so has no note; left out when there is nothing. */
  findings?: PushNote['findings']
  request_body: string | null
  response_body: string | null
  /** What befell it on purpose, if anything did. */
  faults?: readonly ApiFaultKind[]
}
