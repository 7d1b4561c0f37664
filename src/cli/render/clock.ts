import chalk from 'chalk'
import type { ClockReport, ClockView, PlayedAttempt } from '../../client.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer, count, formatTime, status } from './text.ts'

type ClockMove = NonNullable<ClockView['moving']>

export const renderClock = renderer(({ now, frozen, offset_ms }: ClockView): string => {
  return renderFields([
    ['clock', `${formatTime(now)} UTC`],
    ['state', frozen ? chalk.yellow('frozen') : 'running'],
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
