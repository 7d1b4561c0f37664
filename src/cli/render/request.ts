import chalk from 'chalk'
import type { RequestView } from '../../client.ts'
import { faultsText } from './fault.ts'
import { printable } from './text.ts'
import { status as coloured } from './words.ts'

export function renderRequest({
  method,
  path,
  status,
  duration_ms,
  started_at,
  push,
  id,
  faults,
}: RequestView): string {
  const colour = status < 400 ? chalk.green : chalk.red
  const outcome = push === null ? '' : `  ${coloured(push.outcome)}`
  return `→ ${started_at.slice(11, 19)}  ${method} ${printable(path)}  ${colour(status)}${outcome}  ${duration_ms} ms  ${chalk.dim(id)}${faultsText(faults)}`
}
