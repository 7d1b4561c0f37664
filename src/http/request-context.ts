import type { ApiFaultKind } from '../model/simulator/fault-kinds.ts'
import type { NewId } from '../operations/operation.ts'
import { timers } from '../timers.ts'
import type { TraceContext } from '../model/text/trace-context.ts'
import type { OrderedPush, StoredCheck } from '../model/check.ts'
import type { LoggedRequest, PushNote } from '../model/simulator/request-entry.ts'

/** State of one request while it is handled. */
export interface RequestContext {
  requestId: string
  startedAt: Date
  /** Start in milliseconds of the monotonic clock. */
  started: number
  measure: () => number
  /** True once a handler has responded. */
  answered: boolean
  /** Location of the key; `undefined` when no key was accepted. */
  locationId: string | undefined
  /** Summary of a push. */
  push: RequestEntry['push']
  requestBody: string | null
  /** True when the log leaves out the response body. */
  hidesResponse: boolean
  /** Trace context of the request; only with `--trace`. */
  trace?: TraceContext | undefined
  /** Injected faults. */
  faults?: readonly ApiFaultKind[]
  /** True when a fault resets the connection once the request is logged. */
  broken?: true
}

/** The request line as received. */
export interface RequestLine {
  method: string
  path: string
}

/** Request line in the log when it could not be parsed. */
export const unknownLine: RequestLine = { method: '-', path: '-' }

export function newRequestContext(newId: NewId, startedAt: Date, measure = timers.elapsed): RequestContext {
  return {
    requestId: newId('req'),
    startedAt,
    started: measure(),
    measure,
    answered: false,
    locationId: undefined,
    push: null,
    requestBody: null,
    hidesResponse: false,
  }
}

/** A push after its response. The item diff is computed from the stored text when the log is read. */
export interface PushSummary extends Omit<PushNote, 'diff'> {
  /** The check before the push; `null` for a new one. */
  before: StoredCheck | null
  /** The check after the push; `null` when it was refused. */
  after: StoredCheck | null
  /** The push and its time, when the log is to compare it with earlier requests. */
  unjudged?: { push: OrderedPush; now: string }
}

/** A request as the log stores it. */
export interface RequestEntry extends Omit<LoggedRequest, 'push'> {
  push: PushSummary | null
}
