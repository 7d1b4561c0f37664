import chalk from 'chalk'
import type { RequestView } from '../../client.ts'
import type { CheckItem } from '../../model/check.ts'
import { KEPT_REQUESTS_TEXT, loggedFindings } from '../../model/simulator/request-entry.ts'
import { renderHeaded, faultsText } from './attempt.ts'
import { renderCheckChanges, renderItemDiff, type Currencies } from './check.ts'
import { renderTable, renderFields } from './layout.ts'
import { findingLine } from './push.ts'
import { printable, renderer, status as coloured } from './text.ts'
import { formatTime } from '../../model/text/time.ts'

/** Lines of a body that `requests show` prints. */
const BODY_LINES = 200

export const renderRequests = renderer(
  (requests: readonly RequestView[], columns?: number, isFiltered = true): string => {
    const isTraced = requests.some(({ trace_id }) => trace_id !== undefined)
    const rows = requests.map((request) => [
      request.id,
      formatTime(request.started_at),
      `${request.method} ${printable(request.path)}`,
      colouredStatus(request.status),
      request.push === null ? '' : coloured(request.push.outcome),
      loggedFindings(request)
        .map(({ code }) => code)
        .join(' '),
      ...(isTraced ? [request.trace_id ?? ''] : []),
    ])
    return renderTable(
      ['request', 'started (UTC)', 'call', 'status', 'push', 'findings', ...(isTraced ? ['trace id'] : [])],
      rows,
      isFiltered
        ? `No requests match. ${KEPT_REQUESTS_TEXT}`
        : 'No requests yet. Make one with: tabwire push --sample two-top',
      columns,
    )
  },
)

/** Renders a request with its findings, its diff and both bodies. */
export const renderRequestDetail = renderer(
  (request: RequestView, columns: number | undefined = Infinity, currencies: Currencies = {}): string => {
    const { id, method, path, status, started_at, duration_ms, push, faults, trace_id } = request
    const fields: (readonly [string, string])[] = [
      ['request', id],
      ['call', `${method} ${printable(path)}`],
      ['status', `${colouredStatus(status)}${faultsText(faults)}`],
      ['started', `${formatTime(started_at)} UTC, took ${duration_ms} ms`],
      ...(trace_id === undefined ? [] : [['trace id', trace_id] as const]),
      ...(push === null
        ? []
        : [['push', `${coloured(push.outcome)} ${printable(push.external_check_id)}`] as const]),
    ]
    const findings = loggedFindings(request).map((finding) => findingLine(finding, columns))
    const currency = currencies[request.location_id ?? '']
    const diff = push?.diff ? renderItemDiff(push.diff, itemsIn(request.request_body), columns, currency) : []
    const changes = renderCheckChanges(push?.changes ?? [], currency)
    const bodies =
      renderHeaded('request body', request.request_body, columns, BODY_LINES, absence(status)) +
      renderHeaded('response body', request.response_body, columns, BODY_LINES)
    return [renderFields(fields, columns), ...diff, ...changes, ...findings].join('\n') + bodies
  },
)

/** Says why a request has no body: one that is too large is not read. */
function absence(status: number): string {
  return status === 413 ? 'not kept, because it was too large to be read' : 'none'
}

/** Returns the items of a pushed body; none when it is not a check. */
function itemsIn(body: string | null): CheckItem[] {
  try {
    const { items } = JSON.parse(body ?? '') as { items: CheckItem[] }
    return items
  } catch {
    return []
  }
}

function colouredStatus(status: number): string {
  return status < 400 ? chalk.green(String(status)) : chalk.red(String(status))
}
