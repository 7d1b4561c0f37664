import type { ApiFaultKind } from '../model/fault-kinds.ts'
import type { NewId } from '../operations/operation.ts'
import type { Answer } from './refusals.ts'
import type { RequestEntry } from './request-entry.ts'
import { timers } from '../timers.ts'

/** One request on its way through the door: what is known of it beside the request itself. */
export interface Visit {
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
  /** What befell it on purpose. */
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

export function newVisit(newId: NewId, startedAt: Date, measure = timers.elapsed): Visit {
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

/** The visit as the request log keeps it: no headers, and so no key; no body that holds a secret. */
export function logEntry(method: string, path: string, visit: Visit, { status, body }: Answer): RequestEntry {
  return {
    id: visit.requestId,
    method,
    path,
    status,
    started_at: visit.startedAt.toISOString(),
    duration_ms: Math.round((visit.measure() - visit.started) * 10) / 10,
    push: visit.push,
    request_body: visit.requestBody,
    response_body: typeof body === 'string' && !visit.secret ? body : null,
    ...(visit.faults === undefined ? {} : { faults: visit.faults }),
  }
}
