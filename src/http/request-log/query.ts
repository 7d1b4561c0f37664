import type { Finding } from '../../findings/index.ts'
import { findingCodes } from '../../model/simulator/report.ts'
import type { LoggedRequest } from '../../model/simulator/request-entry.ts'
import { choiceOf, externalIdIn, searchOf } from '../query.ts'

/** Filters of the request log: kind, check, result, finding and text. */
export function requestFilter(
  query: URLSearchParams,
): (request: RequestHead, findings: readonly Finding[]) => boolean {
  const kind = choiceOf(query, 'kind', ['push'])
  const failed = choiceOf(query, 'failed', ['true', 'false'])
  const finding = choiceOf(query, 'finding', ['any', ...findingCodes])
  const check = query.get('external_check_id')
  const text = searchOf(query)?.toLowerCase()
  return (request, findings) =>
    (kind === undefined || request.push !== null || isPushPath(request)) &&
    (failed === undefined || request.status >= 400 === (failed === 'true')) &&
    (finding === undefined || findings.some(({ code }) => finding === 'any' || code === finding)) &&
    (check === null || externalIdIn(request.path) === check) &&
    (text === undefined || textOf(request).includes(text))
}

/** The fields of a request that need no reading of its bodies. */
export interface RequestHead extends Pick<LoggedRequest, 'id' | 'method' | 'path' | 'status'> {
  push: unknown
}

function isPushPath({ method, path }: RequestHead): boolean {
  return method === 'PUT' && externalIdIn(path) !== undefined
}

function textOf({ id, method, path, status }: RequestHead): string {
  return `${id} ${method} ${path} ${decodedOrSame(path)} ${status}`.toLowerCase()
}

function decodedOrSame(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
