import type { Finding } from '../../findings/index.ts'
import { findingCodes } from '../../model/simulator/report.ts'
import { endedAt, type LoggedRequest, pushWord, pushWords } from '../../model/simulator/request-entry.ts'
import { choiceOf, externalIdIn, isWithin, searchOf, timeRangeOf } from '../list.ts'

/** Filters of the request log: kind, check, result, outcome, finding, time and text. */
export function requestFilter(
  query: URLSearchParams,
): (request: RequestHead, findings: readonly Finding[]) => boolean {
  const kind = choiceOf(query, 'kind', ['push'])
  const failed = choiceOf(query, 'failed', ['true', 'false'])
  const finding = choiceOf(query, 'finding', ['any', ...findingCodes])
  const outcome = choiceOf(query, 'outcome', pushWords)
  const range = timeRangeOf(query)
  const check = query.get('external_check_id')
  const text = searchOf(query)?.toLowerCase()
  return (request, findings) =>
    (kind === undefined || isPush(request)) &&
    (outcome === undefined || (isPush(request) && pushWord(request) === outcome)) &&
    isWithin(range, endedAt(request)) &&
    (failed === undefined || request.status >= 400 === (failed === 'true')) &&
    (finding === undefined || findings.some(({ code }) => finding === 'any' || code === finding)) &&
    (check === null || externalIdIn(request.path) === check) &&
    (text === undefined || textOf(request).includes(text))
}

/** The fields of a request that need no reading of its bodies. */
export interface RequestHead extends Pick<
  LoggedRequest,
  'id' | 'method' | 'path' | 'status' | 'started_at' | 'duration_ms' | 'faults' | 'trace_id'
> {
  push: Parameters<typeof pushWord>[0]['push']
}

function isPush({ push, method, path }: RequestHead): boolean {
  return push !== null || (method === 'PUT' && externalIdIn(path) !== undefined)
}

function textOf({ id, method, path, status, trace_id = '' }: RequestHead): string {
  return `${id} ${method} ${path} ${decodedOrSame(path)} ${status} ${trace_id}`.toLowerCase()
}

function decodedOrSame(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
