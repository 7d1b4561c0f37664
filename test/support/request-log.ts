import type { RequestEntry } from '../../src/http/request-context.ts'
import { createRequestLog, type LocalLog } from '../../src/http/request-log/log.ts'

/** A request log without a service: no check is ever paid. */
export function openRequestLog(): LocalLog {
  return createRequestLog({ service: { onCommit: () => () => {} }, clock: { now: () => new Date() } })
}

/** An answered read without bodies, with these changes. */
export function requestEntry(changes: Partial<RequestEntry> & Pick<RequestEntry, 'id'>): RequestEntry {
  return {
    method: 'GET',
    path: '/v1/locations',
    status: 200,
    started_at: '2026-11-21T18:00:00.000Z',
    duration_ms: 1,
    push: null,
    request_body: null,
    response_body: null,
    ...changes,
  }
}
