import { Errors } from '@oclif/core'
import { didYouMeanSentence } from '../model/text/did-you-mean.ts'
import { findingCodes, type Report } from '../model/simulator/report.ts'
import { listed } from './flags.ts'

const words: readonly string[] = [...findingCodes, 'any', 'none']

/**
 * Returns the findings that `--fail-on` names.
 * @throws CLIError for an unknown one.
 */
export function failingCodes(given: string | readonly string[]): string[] {
  const codes = listed(given).flatMap((text) => text.split(',').map((code) => code.trim()))
  const unknown = codes.find((code) => !words.includes(code))
  if (unknown === undefined) return codes
  throw new Errors.CLIError(
    `--fail-on must be finding codes, any or none, got ${JSON.stringify(unknown)}.${didYouMeanSentence(unknown, words)} Finding codes: ${findingCodes.join(', ')}.`,
  )
}

/** Returns true when a report has a finding of `--fail-on`. */
export function fails({ findings }: Report, failOn: readonly string[]): boolean {
  return findings.some(({ code }) => failOn.includes('any') || failOn.includes(code))
}
