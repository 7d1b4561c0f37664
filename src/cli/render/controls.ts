import chalk from 'chalk'
import { durationText, formatTime } from '../../model/text/time.ts'
import type { ClockReport, ClockView, PlayedAttempt } from '../../client.ts'
import { apiFaultKinds, apiFields, deliveryFaultKinds } from '../../model/simulator/fault-kinds.ts'
import type { ApiFault, DeliveryFault, FaultsView } from '../../model/simulator/fault.ts'
import type { State } from '../../model/simulator/state.ts'
import type { SavedState, StateContents } from '../files/state-files.ts'
import { renderFields, renderTable } from './layout.ts'
import { count } from '../../model/text/count.ts'
import { renderer, status } from './text.ts'

/** Renders the clock of a state and its numbers of records. */
export const renderState = renderer(({ clock, records, pending }: StateContents): string => {
  const waiting = pending === 0 ? '' : `, ${chalk.yellow(`${pending} pending`)}`
  const counts = Object.entries(records).map(([name, count]): [string, string] => [
    name,
    `${count}${name === 'deliveries' ? waiting : ''}`,
  ])
  return renderFields([['clock', clockText(clock)], ...counts])
})

export const renderSavedStates = renderer((states: readonly SavedState[], columns?: number): string => {
  const rows = states.map(({ name, saved_at, clock, records, pending }) => [
    name,
    formatTime(saved_at),
    ...(clock === undefined || records === undefined
      ? [chalk.red('invalid file'), '', '']
      : [clockText(clock), String(records.checks), `${records.deliveries} (${pending} pending)`]),
  ])
  const headings = ['state', 'saved (UTC)', 'clock', 'checks', 'deliveries']
  return renderTable(headings, rows, 'No states yet. Save one with: tabwire state save NAME', columns)
})

function clockText({ now, frozen }: State['clock']): string {
  return `${formatTime(now)} UTC${frozen ? ', frozen' : ''}`
}

type ClockMove = NonNullable<ClockView['moving']>

export const renderClock = renderer(({ now, frozen, offset_ms, moving }: ClockView): string => {
  const move = moving ? `, ${chalk.yellow('advancing')} to ${formatTime(moving.to)} UTC` : ''
  return renderFields([
    ['clock', `${formatTime(now)} UTC`],
    ['state', (frozen ? chalk.yellow('frozen') : 'running') + move],
    ['offset', offsetText(offset_ms)],
  ])
})

/** Renders the progress of a clock move, and what it waits for. */
export const renderMove = renderer(({ to, waiting_for }: ClockMove, now: string): string => {
  const what = waiting_for.length === 0 ? 'due deliveries' : waiting_for.join(', ')
  return `The clock is at ${formatTime(now)} UTC, advancing to ${formatTime(to)} UTC. Waiting for ${what}: a receiver has 10 s to answer.`
})

/** Renders the attempts of a clock move, one row per outcome, and the clock. */
export const renderPlayed = renderer((report: ClockReport, columns?: number): string => {
  const { attempted, attempted_total, outcomes } = report
  if (attempted_total === 0) return `${chalk.dim('No delivery was due.')}\n\n${renderClock(report)}`
  const rows = Object.entries(outcomes).map(([outcome, attempts]) => {
    const those = attempted.filter((attempt) => attempt.outcome === outcome)
    return [status(outcome), String(attempts), ...endsOf(those)]
  })
  const table = renderTable(['outcome', 'attempts', 'first (UTC)', 'last (UTC)'], rows, '', columns)
  const more =
    attempted_total > attempted.length
      ? chalk.dim(`\nTimes are those of the first ${attempted.length} attempts.`)
      : ''
  return `${table}${more}\n\n${count(attempted_total, 'attempt')}\n\n${renderClock(report)}`
})

function endsOf(attempts: readonly PlayedAttempt[]): [string, string] {
  return [formatTime(attempts[0]?.at ?? ''), formatTime(attempts.at(-1)?.at ?? '')]
}

/** Returns the two largest units: `35h 4m ahead`. */
function offsetText(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  if (seconds === 0) return 'none'
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ].filter(([number]) => number !== 0)
  const text = parts.slice(0, 2).map((part) => part.join(''))
  return `${text.join(' ')} ${offsetMs > 0 ? 'ahead of real time' : 'behind real time'}`
}

const NONE = 'No faults are set. Set some with: tabwire faults set duplicate=0.3 drop=0.2'

/** Renders one row per fault kind. */
export const renderFaults = renderer(({ seed, faults }: FaultsView, columns?: number): string => {
  if (faults.length === 0) return chalk.dim(NONE)
  const rows = faults.flatMap((fault) =>
    (fault.on === 'api' ? apiRows(fault) : deliveryRows(fault)).map(({ kind, chance, what }) => [
      fault.on,
      kind,
      String(chance),
      what,
      limitsOf(fault),
      String(fault.happened?.[kind] ?? 0),
    ]),
  )
  const table = renderTable(['on', 'fault', 'chance', 'effect', 'limits', 'injected'], rows, '', columns)
  return `${renderFields([['seed', String(seed)]])}\n\n${table}`
})

interface Row {
  kind: string
  chance: number
  what: string
}

function deliveryRows(fault: DeliveryFault): Row[] {
  const { delay_ms = 0, reorder_ms = 0 } = fault
  const what = {
    duplicate: 'sent twice',
    reorder: `held until overtaken, at most ${durationText(reorder_ms)}`,
    delay: `delayed by ${durationText(delay_ms)}`,
    drop: 'not sent; the attempt fails',
  }
  return deliveryFaultKinds.flatMap((kind) => {
    const chance = fault[kind]
    return chance === undefined ? [] : [{ kind, chance, what: what[kind] }]
  })
}

function apiRows(fault: ApiFault): Row[] {
  const what = {
    latency: `delayed by ${durationText(fault.latency_ms ?? 0)}`,
    error: `answered ${fault.error_status ?? ''}; not processed`,
    reset: 'connection reset; not processed',
    lost_answer: 'processed; then connection reset',
  }
  return apiFaultKinds.flatMap((kind) => {
    const value = fault[apiFields[kind]]
    return value === undefined ? [] : [{ kind, chance: kind === 'latency' ? 1 : value, what: what[kind] }]
  })
}

function limitsOf(fault: DeliveryFault | ApiFault): string {
  const named =
    fault.on === 'api' ? fault.paths : [...(fault.event_types ?? []), ...(fault.endpoint_ids ?? [])]
  const left = fault.left === undefined ? [] : [`${fault.left} more`]
  return [...(named ?? []), ...left].join(', ')
}
