import chalk from 'chalk'
import type { countOutcomes, VerifyOutcome } from '../verify.ts'
import { printable, renderer } from './text.ts'

export const renderVerification = renderer(({ result, diagnosis }: VerifyOutcome, now: Date): string => {
  if (result.ok)
    return `${chalk.green('✓')} The signature is valid. It was made ${ago(now, result.timestamp)}.`
  const named = diagnosis === undefined ? [] : [`  ${chalk.yellow(diagnosis.mistake)}: ${diagnosis.advice}`]
  return [`${chalk.red('✗')} ${result.code}: ${printable(result.message)}`, ...named].join('\n')
})

/** Renders the totals of `verify --many`. */
export const renderCounts = renderer(
  ({ total, right, wrong, mistakes }: ReturnType<typeof countOutcomes>): string => {
    const named = Object.entries(mistakes).map(([mistake, times]) => `  ${chalk.yellow(mistake)}  ${times}`)
    return [`${total} verified: ${right} valid, ${wrong} invalid`, ...named].join('\n')
  },
)

function ago(now: Date, timestamp: number): string {
  const seconds = Math.floor(now.getTime() / 1000) - timestamp
  return seconds >= 0 ? `${seconds} s ago` : `${-seconds} s in the future`
}
