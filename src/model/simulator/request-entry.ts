import type { CheckChange, ItemDiff } from '../check-diff.ts'
import type { ApiFaultKind } from './fault-kinds.ts'
import type { Finding } from './report.ts'

/** Outcomes of a push. `conflict` is the refusal of specification section 4, rule 4. */
export const pushOutcomes = ['created', 'updated', 'unchanged', 'stale', 'conflict'] as const

export type PushOutcome = (typeof pushOutcomes)[number]

/** Outcome, diff and findings of a push (contract sections 10 and 11). */
export interface PushNote {
  external_check_id: string
  outcome: PushOutcome
  diff: ItemDiff | null
  /** Fields outside the items that an update changed; absent without any. */
  changes?: readonly CheckChange[]
  findings: readonly Finding[]
}

/** A request as `/_sim/requests` shows it. Headers are left out, so that it never contains a key. */
export interface LoggedRequest {
  id: string
  /** `-` when the request line was unreadable; then `path` is `-`, too. */
  method: string
  path: string
  status: number
  started_at: string
  duration_ms: number
  /** Location of the API key; absent when no key was accepted. */
  location_id?: string | undefined
  /** With `--trace`, the trace id of the header `traceparent`; absent without a valid one. */
  trace_id?: string
  push: PushNote | null
  /** Findings of a push that was refused before a decision, and therefore has no note; absent without any. */
  findings?: PushNote['findings']
  request_body: string | null
  response_body: string | null
  /** Injected faults. */
  faults?: readonly ApiFaultKind[]
}

/** Returns the findings of a push, also of a refused one. */
export function loggedFindings({ push, findings }: LoggedRequest): readonly Finding[] {
  return push?.findings ?? findings ?? []
}

/** Most requests in the log. */
export const KEPT_REQUESTS = 1_000

/** Says why a request may be missing. A literal: formatting {@link KEPT_REQUESTS} takes 9 ms, at each start of a command. */
export const KEPT_REQUESTS_TEXT = 'The service keeps at most the newest 1,000 requests.'

/** Paths that load balancers and scrapers request every few seconds. */
export const PROBES: ReadonlySet<string> = new Set(['/_sim/health', '/_sim/ready', '/_sim/metrics'])

/** Start of the message for a path that the API does not have. */
export const NO_SUCH_PATH = 'No such path: '

/** Outcome of a push in one word: `refused` before a decision, or by an injected `fault`. */
export const pushWords = [...pushOutcomes, 'refused', 'fault'] as const
export type PushWord = (typeof pushWords)[number]

export function pushWord({
  push,
  faults,
}: {
  push: Pick<PushNote, 'outcome'> | null
  faults?: LoggedRequest['faults']
}): PushWord {
  const isFailed = faults?.some((kind) => kind === 'error' || kind === 'reset') === true
  return push?.outcome ?? (isFailed ? 'fault' : 'refused')
}

/** Returns the time of a request's response, by which lists are sorted. */
export function endedAt({
  started_at,
  duration_ms,
}: Pick<LoggedRequest, 'started_at' | 'duration_ms'>): string {
  return new Date(Date.parse(started_at) + duration_ms).toISOString()
}

/**
 * Prefix of external ids of checks that our own commands push as a trial. Reports leave them out, because they say
 * nothing about the integration.
 */
export const TRIAL_PREFIX = 'tabwire-trial-'

/** Returns true for paths of trial checks, such as `/v1/checks/external/tabwire-trial-1`. */
export function isTrialPath(path: string): boolean {
  return path.startsWith(`/v1/checks/external/${TRIAL_PREFIX}`)
}

/** An answered request, for access logs. */
export interface AnsweredRequest {
  /** The `X-Request-Id`. */
  requestId: string
  method: string
  /** Path without query. */
  path: string
  status: number
  durationMs: number
}

/** An entry of the request log, as text. */
export interface RequestRow {
  id: string
  /** Generation and sequence that its instance had reached when it answered. */
  generation: number
  sequence: number
  /** Its JSON. */
  doc: string
}

/** A stored entry. `doc` is `null` for an entry that the reading instance appended. */
export interface NumberedRow extends Omit<RequestRow, 'doc'> {
  number: number
  doc: string | null
}

/** A saved log as of a number. */
export interface RequestCheckpoint {
  number: number
  generation: number
  doc: string
}

/**
 * The request log in the database. Numbers rise in the order of the commits. Each method throws Refusal
 * `storage_unavailable`.
 */
export interface RequestRows {
  /** Appends entries. Leaves out those that are stored already. */
  append(rows: readonly RequestRow[]): Promise<void>
  /** Reads entries after a number, in order. */
  after(number: number): Promise<{
    rows: readonly NumberedRow[]
    more: boolean
    /** True when an entry after the number is no longer stored. */
    isLost: boolean
    /** Id of the entry with this number; `undefined` when none is stored, or it was removed in order. */
    lastId: string | undefined
    /** Number of replacements of all records. */
    generation: number
    /** Number of the checkpoint. */
    checkpoint: number
  }>
  checkpoint(): Promise<RequestCheckpoint | undefined>
  /** Stores a checkpoint unless there is a newer one, and removes the entries up to the checkpoint before it. */
  keep(checkpoint: RequestCheckpoint): Promise<void>
}
