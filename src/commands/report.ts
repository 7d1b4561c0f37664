import { Flags } from '@oclif/core'
import { formatReport } from '../cli/conformance/command.ts'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { casesOf, failingCodes, fails, needsAccount, type Reported } from '../cli/report.ts'
import { renderReported } from '../cli/render/account.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag, timeOf } from '../cli/time.ts'
import { createClient } from '../client.ts'
import { accountCodes } from '../model/simulator/account.ts'
import { findingCodes } from '../model/simulator/report.ts'

export default class Report extends ServiceCommand {
  static override description = `List problems found in your pushes.\nGroups the findings, with the requests that show them. With --account, also adds up pushes, payments and refunds, and checks that receivers accepted the events. Exit 3 when there is a finding or a problem of --fail-on.\nFindings: ${findingCodes.join(', ')}.\nProblems of the account: ${accountCodes.join(', ')}.`
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --since 10m --fail-on totals_mismatch,conflict_ignored',
    '<%= config.bin %> report --account --junit report.xml',
    '<%= config.bin %> report --fail-on none   # never fails',
  ]
  static override flags = fromEnvironment({
    since: sinceFlag({
      description: 'Only requests since this time, ISO 8601 or a duration ago such as 90s, 30m or 2h.',
    }),
    account: Flags.boolean({
      description: 'Also print the account: amounts of all checks, and what does not add up.',
    }),
    'all-closed': Flags.boolean({ description: 'Also expect every check to be closed; implies --account.' }),
    'fail-on': Flags.string({
      description: 'Findings and problems that set exit code 3, separated by commas; or any, or none.',
      multiple: true,
      default: ['any'],
    }),
    junit: Flags.string({ description: 'Also write the report to this file, as JUnit XML.' }),
    tap: Flags.boolean({ description: 'Print the report as TAP 14.', exclusive: ['json'] }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Report)
    const failOn = failingCodes(flags['fail-on'])
    const located = await this.locate(flags)
    const client = createClient(located)
    const report: Reported = await client.report(flags.since && (await timeOf(client, flags.since)))
    if (flags.account || flags['all-closed'] || needsAccount(failOn))
      report.account = await client.account({ all_closed: flags['all-closed'] })
    if (flags.tap || flags.junit !== undefined) {
      const cases = casesOf(report, failOn, { suite: 'report', target: located.url })
      const text = await formatReport(cases, { json: false, tap: true, junit: flags.junit })
      if (flags.tap) this.write(text)
    }
    if (!flags.tap) this.print(report, () => renderReported(report, this.terminal.columns))
    if (fails(report, failOn)) process.exitCode = exitCodes.checkFailed
  }
}
