import chalk from 'chalk'
import type { Judgement, tally } from '../verify/judge.ts'
import { printable, renderer } from './text.ts'

export const renderVerification = renderer(({ result, diagnosis }: Judgement, now: Date): string => {
  if (result.ok)
    return `${chalk.green('✓')} The signature is right; it was made ${ago(now, result.timestamp)}.`
  const named = diagnosis === undefined ? [] : [`  ${chalk.yellow(diagnosis.mistake)}: ${diagnosis.advice}`]
  return [`${chalk.red('✗')} ${result.code}: ${printable(result.message)}`, ...named].join('\n')
})

/** The totals of many. */
export const renderTally = renderer(({ total, right, wrong, mistakes }: ReturnType<typeof tally>): string => {
  const named = Object.entries(mistakes).map(([mistake, times]) => `  ${chalk.yellow(mistake)}  ${times}`)
  return [`${total} checked: ${right} right, ${wrong} wrong`, ...named].join('\n')
})

function ago(now: Date, timestamp: number): string {
  const seconds = Math.floor(now.getTime() / 1000) - timestamp
  return seconds >= 0 ? `${seconds} s ago` : `${-seconds} s in the future`
}
