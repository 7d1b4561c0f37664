import { Flags } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { failingCodes, fails } from '../cli/report.ts'
import { renderReport } from '../cli/render/results.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag, timeOf } from '../cli/time.ts'
import { findingCodes } from '../model/simulator/report.ts'

export default class Report extends ServiceCommand {
  static override description = `List problems found in your pushes.\nGroups the findings, with the requests that show them. Exit 3 when there is a finding of --fail-on.\nFindings: ${findingCodes.join(', ')}.`
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --since 10m --fail-on totals_mismatch,conflict_ignored',
    '<%= config.bin %> report --fail-on none   # never fails',
  ]
  static override flags = fromEnvironment({
    since: sinceFlag({
      description: 'Only requests since this time, ISO 8601 or a duration ago such as 90s, 30m or 2h.',
    }),
    'fail-on': Flags.string({
      description: 'Findings that set exit code 3, separated by commas; or any, or none.',
      multiple: true,
      default: ['any'],
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Report)
    const failOn = failingCodes(flags['fail-on'])
    const client = await this.connect(flags)
    const report = await client.report(flags.since && (await timeOf(client, flags.since)))
    this.print(report, () => renderReport(report, this.terminal.columns))
    if (fails(report, failOn)) process.exitCode = exitCodes.checkFailed
  }
}
