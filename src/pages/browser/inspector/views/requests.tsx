import { type FindingCode, findingCodes } from '../../../../model/simulator/report.ts'
import {
  endedAt,
  loggedFindings,
  type LoggedRequest,
  type PushNote,
  pushWord,
  pushWords,
} from '../../../../model/simulator/request-entry.ts'
import { Link } from '../address.tsx'
import { elapsedText } from '../clock.tsx'
import { Badge, StatusCode } from '../elements.tsx'
import type { Filter, View } from '../list/view.ts'

const failedFilter: Filter = {
  name: 'failed',
  label: 'Status',
  choices: [
    ['true', '4xx, 5xx'],
    ['false', '2xx'],
  ],
}

const outcomeFilter: Filter = {
  name: 'outcome',
  label: 'Outcome',
  choices: pushWords.map((word) => [word, word]),
}

const findingFilter: Filter = {
  name: 'finding',
  label: 'Finding',
  all: 'All pushes',
  choices: [['any', 'with findings'], ...findingCodes.map((code) => [code, code] as const)],
}

export const requestsView: View<LoggedRequest> = {
  name: 'requests',
  title: 'Requests',
  path: '/requests',
  filters: [failedFilter],
  isTimed: true,
  hint: 'Search X-Request-Id, path, status',
  headings: ['Responded', 'Request', 'Status', 'Duration', 'X-Request-Id'],
  time: endedAt,
  cells: ({ id, method, path, status, duration_ms }) => [
    <span>
      <b>{method}</b> {path}
    </span>,
    <StatusCode status={status} />,
    elapsedText(duration_ms),
    <code>{id}</code>,
  ],
  opens: ({ id }) => id,
  follows: ['request'],
  empty: {
    title: 'No requests yet',
    text: 'Requests to /v1 appear here with their bodies. API keys are not logged.',
    commands: ['tabwire push --sample two-top'],
  },
}

export const pushesView: View<LoggedRequest> = {
  ...requestsView,
  name: 'pushes',
  title: 'Pushes',
  fixed: { kind: 'push' },
  filters: [outcomeFilter, failedFilter, findingFilter],
  hint: 'Search check, X-Request-Id, status',
  headings: ['Responded', 'Check', 'Outcome', 'Items', 'Findings', 'Status', 'Duration'],
  cells: (request) => {
    const { path, push, status, duration_ms } = request
    return [
      <b>{push?.external_check_id ?? lastSegment(path)}</b>,
      <Badge word={pushWord(request)} />,
      push === null ? '' : diffText(push),
      <span class="findings">
        {loggedFindings(request)
          .map(({ code }) => code)
          .join(', ')}
      </span>,
      <StatusCode status={status} />,
      elapsedText(duration_ms),
    ]
  },
  empty: {
    title: 'No pushes yet',
    text: 'Each push appears here with its outcome, changes and findings.',
    commands: ['tabwire push --sample two-top'],
  },
}

/** Returns the counts of added, removed and changed items: `+2 −1 ~1`. A change of the check itself counts as one. */
export function diffText({ diff, changes = [] }: Pick<PushNote, 'diff' | 'changes'>): string {
  if (diff === null) return ''
  const parts = [
    ['+', diff.added.length],
    ['−', diff.removed.length],
    ['~', diff.changed.length + Math.min(changes.length, 1)],
  ] as const
  const counts = parts.filter(([, count]) => count > 0).map(([sign, count]) => `${sign}${count}`)
  return counts.length === 0 ? `${diff.unchanged} unchanged` : counts.join(' ')
}

function lastSegment(path: string): string {
  const segment = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** A link from a finding to all pushes that have it. */
export function FindingLink({ code }: { code: FindingCode }) {
  return <Link to={{ view: 'pushes', filters: { finding: code }, open: '' }}>{code}</Link>
}
