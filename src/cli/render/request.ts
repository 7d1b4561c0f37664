import chalk from 'chalk'
import type { RequestView } from '../../client.ts'
import type { CheckItem } from '../../model/check.ts'
import { renderHeaded } from './attempt.ts'
import { faultsText } from './fault.ts'
import { renderCheckChanges, renderItemDiff } from './item-diff.ts'
import { renderTable, wrapTo } from './layout.ts'
import { formatTime, printable, renderFields, renderer, status as coloured } from './text.ts'

/** Lines of a body that `requests show` prints. */
const BODY_LINES = 200

export const renderRequests = renderer((requests: readonly RequestView[], columns?: number): string => {
  const rows = requests.map((request) => [
    request.id,
    formatTime(request.started_at),
    `${request.method} ${printable(request.path)}`,
    colouredStatus(request.status),
    request.push === null ? '' : coloured(request.push.outcome),
    findingsOf(request)
      .map(({ code }) => code)
      .join(' '),
  ])
  return renderTable(
    ['request', 'started (UTC)', 'call', 'status', 'push', 'findings'],
    rows,
    'No requests match. The service keeps the latest 1,000 until it stops.',
    columns,
  )
})

/** Renders a request with its findings, its diff and both bodies. */
export const renderRequestDetail = renderer(
  (request: RequestView, columns: number | undefined = Infinity): string => {
    const { id, method, path, status, started_at, duration_ms, push, faults } = request
    const fields = renderFields([
      ['request', id],
      ['call', `${method} ${printable(path)}`],
      ['status', `${colouredStatus(status)}${faultsText(faults)}`],
      ['started', `${formatTime(started_at)} UTC, took ${duration_ms} ms`],
      ...(push === null
        ? []
        : [['push', `${coloured(push.outcome)} ${printable(push.external_check_id)}`] as const]),
    ])
    const findings = findingsOf(request).map(
      ({ code, message }) =>
        `  ${wrapTo(columns - 4, `${chalk.yellow(`! ${code}`)} ${message}`).join('\n    ')}`,
    )
    const diff = push?.diff ? renderItemDiff(push.diff, itemsIn(request.request_body), columns) : []
    const changes = renderCheckChanges(push?.changes ?? [])
    const bodies =
      renderHeaded('request body', request.request_body, BODY_LINES) +
      renderHeaded('response body', request.response_body, BODY_LINES)
    return [fields, ...diff, ...changes, ...findings].join('\n') + bodies
  },
)

/** Returns the items of a pushed body; none when it is not a check. */
function itemsIn(body: string | null): CheckItem[] {
  try {
    const { items } = JSON.parse(body ?? '') as { items: CheckItem[] }
    return items
  } catch {
    return []
  }
}

function findingsOf({ push, findings }: RequestView) {
  return push?.findings ?? findings ?? []
}

function colouredStatus(status: number): string {
  return status < 400 ? chalk.green(String(status)) : chalk.red(String(status))
}
