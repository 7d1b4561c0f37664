import { Errors, Flags } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment, listed } from '../cli/flags.ts'
import { renderReport } from '../cli/render/results.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { didYouMeanSentence } from '../model/text/did-you-mean.ts'
import { sinceFlag, timeOf } from '../cli/time.ts'
import { findingCodes } from '../model/simulator/report.ts'

const words: readonly string[] = [...findingCodes, 'any', 'none']

export default class Report extends ServiceCommand {
  static override description = `Tell what the integration under test did wrong.\nThe findings are grouped, with the requests that show them. Exit 3 when something of --fail-on was found.\nThere are: ${findingCodes.join(', ')}.`
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --since 10m --fail-on totals_mismatch,conflict_ignored',
    '<%= config.bin %> report --fail-on none   # looks, and never fails',
  ]
  static override flags = fromEnvironment({
    since: sinceFlag({
      description: 'Only what began then or later: an ISO 8601 time, or 90s, 30m, 2h ago.',
    }),
    'fail-on': Flags.string({
      description: 'Findings that make the exit code 3, with commas; any of them, or none.',
      multiple: true,
      default: ['any'],
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Report)
    const failOn = codesOf(flags['fail-on'])
    const client = await this.connect(flags)
    const report = await client.report(flags.since && (await timeOf(client, flags.since)))
    this.print(report, () => renderReport(report, this.terminal.columns))
    const found = report.findings.some(({ code }) => failOn.includes('any') || failOn.includes(code))
    if (found) process.exitCode = exitCodes.checkFailed
  }
}

function codesOf(given: string | readonly string[]): string[] {
  const codes = listed(given).flatMap((text) => text.split(',').map((code) => code.trim()))
  const unknown = codes.find((code) => !words.includes(code))
  if (unknown === undefined) return codes
  throw new Errors.CLIError(
    `--fail-on ${unknown} is no finding.${didYouMeanSentence(unknown, words)} There are: ${words.join(', ')}.`,
  )
}
