import type { ApiFaultKind } from '../model/simulator/fault-kinds.ts'
import type { NewId } from '../operations/operation.ts'
import type { Answer } from './refusals.ts'
import { timers } from '../timers.ts'
import type { StoredCheck } from '../model/check.ts'
import type { LoggedRequest, PushNote } from '../model/simulator/request-entry.ts'

/** What the service knows of one request beside the request itself. */
export interface RequestContext {
  requestId: string
  startedAt: Date
  /** On the clock that only measures. */
  started: number
  measure: () => number
  /** Whether a handler of ours has answered. */
  answered: boolean
  /** Set by a push: what it was like. */
  push: RequestEntry['push']
  requestBody: string | null
  /** The answer holds a secret. */
  secret: boolean
  /** Faults that were injected. */
  faults?: readonly ApiFaultKind[]
  /** The connection was to break, and there is none. */
  broken?: true
}

/** What a request asks for, as it was written. */
export interface RequestLine {
  method: string
  path: string
}

/** Stands in the request log for a request line that could not be read. */
export const unknownLine: RequestLine = { method: '-', path: '-' }

export function newRequestContext(newId: NewId, startedAt: Date, measure = timers.elapsed): RequestContext {
  return {
    requestId: newId('req'),
    startedAt,
    started: measure(),
    measure,
    answered: false,
    push: null,
    requestBody: null,
    secret: false,
  }
}

/** The context as the request log keeps it: no headers, and so no key; no body that holds a secret. */
export function logEntry(
  method: string,
  path: string,
  context: RequestContext,
  { status, body }: Answer,
): RequestEntry {
  return {
    id: context.requestId,
    method,
    path,
    status,
    started_at: context.startedAt.toISOString(),
    duration_ms: Math.round((context.measure() - context.started) * 10) / 10,
    push: context.push,
    request_body: context.requestBody,
    response_body: typeof body === 'string' && !context.secret ? body : null,
    ...(context.faults === undefined ? {} : { faults: context.faults }),
  }
}

/** What is known of a push once it is answered. Its item diff is computed from the kept text when it is read. */
export interface PushSummary extends Omit<PushNote, 'diff'> {
  /** The check that the push met; `null` for a new one. */
  before: StoredCheck | null
}

/** A request as it is kept. */
export type RequestEntry = Omit<LoggedRequest, 'push'> & { push: PushSummary | null }
