import { openRequestLog } from '../support/request-log.ts'
import { errorBody } from '../../src/http/refusals.ts'
import type { RequestEntry } from '../../src/http/request-context.ts'

/** One push of a history: what was sent to which check, and the answer. */
export interface Sent {
  check: string
  body: string
  status: number
  /** The error code of the answer. */
  code?: string
  faults?: RequestEntry['faults']
}

/** Returns the findings of the report on a history of pushes. */
export function reportOn(history: readonly Sent[]) {
  const log = openRequestLog()
  for (const [index, sent] of history.entries()) log.add(entryOf(sent, index))
  return log.report(undefined)
}

/** The findings of a report by code, each with how often it was found. */
export function countsIn(history: readonly Sent[]): Record<string, number> {
  return Object.fromEntries(reportOn(history).findings.map(({ code, count }) => [code, count]))
}

function entryOf({ check, body, status, code, faults }: Sent, index: number): RequestEntry {
  const id = `req_${String(index).padStart(6, '0')}`
  return {
    id,
    method: 'PUT',
    path: `/v1/checks/external/${check}`,
    status,
    started_at: new Date(index).toISOString(),
    duration_ms: 1,
    push: null,
    request_body: body,
    response_body: code === undefined ? '{}' : errorBody(code, 'Why.', id),
    ...(faults && { faults }),
  }
}
