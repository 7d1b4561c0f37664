import chalk from 'chalk'
import type { RequestView } from '../../client.ts'
import { faultsText } from './fault.ts'
import { printable, renderer } from './text.ts'
import { cutTo, widthOf } from './width.ts'
import { status as coloured } from './words.ts'

/** One request to the API as `tail` shows it, cut to the terminal's width; in a pipe it is whole. */
export const renderRequest = renderer(
  (request: RequestView, columns: number | undefined = Infinity): string => {
    const { method, path, status, duration_ms, started_at, push, id, faults } = request
    const colour = status < 400 ? chalk.green : chalk.red
    const outcome = push === null ? '' : `  ${coloured(push.outcome)}`
    const end = `  ${colour(status)}${outcome}  ${duration_ms} ms`
    const befallen = faultsText(faults)
    const begin = `→ ${started_at.slice(11, 19)}  `
    const target = `${method} ${printable(path)}`
    const taken = widthOf(begin + end + befallen)
    const name = columns >= taken + widthOf(target) + 2 + id.length ? `  ${chalk.dim(id)}` : ''
    return `${begin}${cutTo(Math.max(columns - taken, 20), target)}${end}${name}${befallen}`
  },
)
