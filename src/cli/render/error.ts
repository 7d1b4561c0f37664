import chalk from 'chalk'
import type { Failure } from '../errors.ts'
import { harmless, printable } from './text.ts'

/** An error for people: what, why and what to do, each issue on a line of its own, and the id to ask about. */
export function renderError({ message, issues, requestId }: Failure): string {
  const lines = issues.map((issue) => `  ${chalk.bold(printable(issue.path))} ${printable(issue.message)}`)
  const trace = requestId === null ? [] : [chalk.dim(`  X-Request-Id: ${printable(requestId)}`)]
  return [`${chalk.red('Error:')} ${harmless(message)}`, ...lines, ...trace].join('\n')
}
