import chalk from 'chalk'
import { exampleCheck } from '../example-check.ts'
import { renderFields } from './text.ts'

interface Ready {
  url: string
  baseUrl: string
  apiKey: string
  /** The link that opens the inspector. */
  inspector: string
}

/** What `start` says when it is ready, and what to do next. */
export function renderReady({ url, baseUrl, apiKey, inspector }: Ready): string {
  const fields = renderFields([
    ['base URL', chalk.bold(baseUrl)],
    ['API key', apiKey],
    ['inspector', `${inspector}  ${chalk.dim('good once, for ten minutes; tabwire open makes another')}`],
    ['reference', `${url}/docs`],
  ])
  return `${chalk.green('Tabwire is ready.')}\n\n${fields}\n\nIn another terminal:\n\n${renderFields(steps)}\n\nCtrl-C stops it.`
}

const steps = [
  ['push a check', `tabwire push ${exampleCheck()}`],
  ['register a receiver', 'tabwire endpoints create https://localhost:8443/webhooks --events all'],
  ['watch deliveries', 'tabwire tail'],
] as const

/** What to try after the demo. */
export function renderNextSteps(): string {
  return `Now with your own checks and receiver:\n\n${renderFields([['run the service', 'tabwire start'], ...steps])}`
}

export function renderWarning(text: string): string {
  return `${chalk.yellow('Warning:')} ${text}`
}

/** A bug, or a delivery that could not be recorded: the whole of it, here and nowhere else. */
export function renderBug(error: unknown, requestId?: string): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `${chalk.red('Error')}${requestId === undefined ? '' : ` in ${requestId}`}: ${text}`
}
