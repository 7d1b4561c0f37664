import chalk from 'chalk'
import type { Bundle } from '../../model/simulator/bundle.ts'
import { formatTime } from '../../model/text/time.ts'
import { renderFields, wrapped } from './layout.ts'
import { renderer } from './text.ts'

type Recording = Pick<Bundle, 'recorded_at' | 'tabwire' | 'node' | 'platform' | 'command'>

/** Renders when and by what a bundle was written. */
export const renderRecording = renderer(
  ({ recorded_at, tabwire, node, platform, command }: Recording, columns: number): string => {
    const text = `Replay of ${formatTime(recorded_at)} UTC, recorded by Tabwire ${tabwire} on Node.js ${node} (${platform}).`
    const code = command?.exit_code ?? 0
    const ended = code === 0 ? [] : [`The command of \`tabwire exec\` ended with exit code ${code}.`]
    return chalk.dim(wrapped([text, ...ended].join(' '), '', columns))
  },
)

/** Returns the warning for a verdict that differs from the recorded one. */
export const renderDifference = renderer(({ tabwire, node }: Pick<Bundle, 'tabwire' | 'node'>): string => {
  return `The report differs from the recorded one. Tabwire ${tabwire} on Node.js ${node} wrote the bundle; use that version for the recorded report. The exit code follows the report below.`
})

/** Renders the link to the inspector of a replay. */
export const renderReplay = renderer((inspector: string, columns: number): string => {
  const fields = renderFields(
    [
      ['inspector', inspector],
      ['', chalk.dim('works once, within ten minutes')],
    ],
    columns,
  )
  return `${fields}\n\nThe replay sends no deliveries. Press Ctrl-C to stop.`
})
