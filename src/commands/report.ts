import { Flags } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { failingCodes, fails } from '../cli/report.ts'
import { renderReport } from '../cli/render/results.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag, timeOf } from '../cli/time.ts'
import { findingCodes } from '../model/simulator/report.ts'

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
    const failOn = failingCodes(flags['fail-on'])
    const client = await this.connect(flags)
    const report = await client.report(flags.since && (await timeOf(client, flags.since)))
    this.print(report, () => renderReport(report, this.terminal.columns))
    if (fails(report, failOn)) process.exitCode = exitCodes.checkFailed
  }
}
