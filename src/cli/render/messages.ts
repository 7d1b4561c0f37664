import chalk from 'chalk'
import { FORWARD, PUSH } from '../suggestion.ts'
import { harmless, renderer, printable } from './text.ts'
import { widthOf, renderFields } from './layout.ts'
import type { CommandFailure } from '../errors.ts'

interface Ready {
  /** The address for people: of the proxy, or one that other machines reach. */
  url: string
  apiKey: string
  /** The link that opens the inspector. */
  inspector: string
}

/** Renders the addresses of a started service, and what to do next. */
export const renderReady = renderer(
  ({ url, apiKey, inspector }: Ready, columns: number | undefined = Infinity): string => {
    const fields = renderFields(
      [
        ['base URL', chalk.bold(`${url}/v1`)],
        ['API key', apiKey],
        ['reference', `${url}/docs`],
        ['inspector', inspector],
        ['', chalk.dim('works once, within ten minutes; `tabwire open` makes a new one')],
      ],
      columns,
    )
    return `${chalk.green('Tabwire is ready.')}\n\n${fields}\n\nIn another terminal:\n\n${renderSteps(steps, columns)}\n\nPress Ctrl-C to stop.`
  },
)

const steps = [
  ['forward webhooks to your application', FORWARD],
  ['push a check', PUSH],
  ['watch deliveries', 'tabwire tail'],
] as const

/**
 * Renders steps as two columns; where a command does not fit beside its description, it stands below, unbroken, so
 * that it can be copied.
 */
function renderSteps(all: readonly (readonly [what: string, command: string])[], columns: number): string {
  const beside = renderFields(all)
  if (beside.split('\n').every((line) => widthOf(line) <= columns)) return beside
  return all.map(([what, command]) => `${chalk.dim(what)}\n  ${command}`).join('\n')
}

/** Renders what to try after the demo. */
export function renderNextSteps(columns = Infinity): string {
  return `Next, with your own application:\n\n${renderSteps([['run the service', 'tabwire start'], ...steps], columns)}`
}

export const renderWarning = renderer((text: string): string => {
  return `${chalk.yellow('Warning:')} ${text}`
})

/** Renders a bug, or a delivery that could not be recorded, with its stack: nothing else reports it. */
export const renderBug = renderer((error: unknown, requestId?: string): string => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `${chalk.red('Error')}${requestId === undefined ? '' : ` in ${requestId}`}: ${harmless(text)}`
})

/** Renders an error: the message, each issue on its own line, and the request id. */
export function renderError({ message, issues, requestId }: CommandFailure): string {
  const lines = issues.map((issue) => `  ${chalk.bold(printable(issue.path))} ${printable(issue.message)}`)
  const trace = requestId === null ? [] : [chalk.dim(`  X-Request-Id: ${printable(requestId)}`)]
  return [`${chalk.red('Error:')} ${harmless(message)}`, ...lines, ...trace].join('\n')
}
