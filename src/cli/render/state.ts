import chalk from 'chalk'
import type { State, StateReport } from '../../model/simulator/state.ts'
import type { SavedState } from '../files/state-files.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer, formatTime } from './text.ts'

/** Renders the clock of a state and its numbers of records. */
export const renderState = renderer(({ clock, records, pending }: Contents): string => {
  const waiting = pending === 0 ? '' : `, ${chalk.yellow(`${pending} pending`)}`
  const counts = Object.entries(records).map(([name, count]): [string, string] => [
    name,
    `${count}${name === 'deliveries' ? waiting : ''}`,
  ])
  return renderFields([['clock', clockText(clock)], ...counts])
})

interface Contents extends Omit<StateReport, 'clock'> {
  clock: State['clock']
}

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
