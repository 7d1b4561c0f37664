import { findingCodes } from '../../../../model/simulator/report.ts'
import type { LoggedRequest, PushNote } from '../../../../model/simulator/request-entry.ts'
import { Badge, StatusCode } from '../badge.tsx'
import { findingsOf } from '../findings.tsx'
import type { Filter, View } from '../list/view.ts'
import { Moment } from '../moment.tsx'
import { tookText } from '../time-text.ts'

const failedFilter: Filter = {
  name: 'failed',
  label: 'Answer',
  choices: [
    ['true', '4xx, 5xx'],
    ['false', '2xx'],
  ],
}

const findingFilter: Filter = {
  name: 'finding',
  label: 'Finding',
  all: 'with or without findings',
  choices: [['any', 'with a finding'], ...findingCodes.map((code) => [code, code] as const)],
}

export const requestsView: View<LoggedRequest> = {
  name: 'requests',
  title: 'Requests',
  path: '/requests',
  filters: [failedFilter],
  hint: 'Search X-Request-Id, path, status',
  headings: ['Started', 'Request', 'Status', 'Took', 'X-Request-Id'],
  cells: ({ id, method, path, status, started_at, duration_ms }) => [
    <Moment at={started_at} />,
    <span>
      <b>{method}</b> {path}
    </span>,
    <StatusCode status={status} />,
    tookText(duration_ms),
    <code>{id}</code>,
  ],
  opens: ({ id }) => id,
  follows: ['request'],
  empty: {
    title: 'No requests yet',
    text: 'Everything that is asked of /v1 appears here, with its bodies, and no key.',
    commands: ['tabwire push fixtures/checks/two-top-with-notes.json'],
  },
}

export const pushesView: View<LoggedRequest> = {
  ...requestsView,
  name: 'pushes',
  title: 'Pushes',
  fixed: { kind: 'push' },
  filters: [failedFilter, findingFilter],
  hint: 'Search check, X-Request-Id, status',
  headings: ['Pushed', 'Check', 'Outcome', 'Items', 'Findings', 'Status', 'Took'],
  cells: (request) => {
    const { path, push, status, started_at, duration_ms, faults } = request
    return [
      <Moment at={started_at} />,
      <b>{push?.external_check_id ?? lastSegment(path)}</b>,
      <Badge word={push?.outcome ?? (faults === undefined ? 'refused' : 'fault')} />,
      push === null ? '' : diffText(push.diff),
      <span class="findings">
        {findingsOf(request)
          .map(({ code }) => code)
          .join(', ')}
      </span>,
      <StatusCode status={status} />,
      tookText(duration_ms),
    ]
  },
  empty: {
    title: 'No pushes yet',
    text: 'Each push is shown with its outcome, what it changed, and what a reviewer would say to it.',
    commands: ['tabwire push fixtures/checks/two-top-with-notes.json'],
  },
}

/** `+2 −1 ~1`: what a push did to the items. */
export function diffText(diff: PushNote['diff']): string {
  if (diff === null) return ''
  const parts = [
    ['+', diff.added.length],
    ['−', diff.removed.length],
    ['~', diff.changed.length],
  ] as const
  const changes = parts.filter(([, count]) => count > 0).map(([sign, count]) => `${sign}${count}`)
  return changes.length === 0 ? `${diff.unchanged} unchanged` : changes.join(' ')
}

function lastSegment(path: string): string {
  const segment = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
