import { Flags } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { writeReport } from '../cli/conformance/command.ts'
import { requireWritableBundle, writeBundle } from '../cli/files/bundle-file.ts'
import { fromEnvironment, junitFlag, outputFileFlag, tapFlag } from '../cli/flags.ts'
import {
  accountFlags,
  failingCodes,
  judgeReport,
  needsAccount,
  reportedOf,
  type Reported,
} from '../cli/report.ts'
import { renderReported } from '../cli/render/report.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag, startOfSince } from '../cli/time.ts'
import { toTap } from '../conformance/report.ts'
import { accountCodes, findingCodes } from '../model/simulator/report.ts'

export default class Report extends ServiceCommand {
  static override description = `List problems found in your pushes.\nGroups the findings, with the requests that show them. With --account, also adds up pushes, payments and refunds, and checks that receivers accepted the events. Exit 3 when there is a finding or a problem of --fail-on.\nFindings: ${findingCodes.join(', ')}.\nProblems of the account: ${accountCodes.join(', ')}.`
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --since 10m --fail-on totals_mismatch,conflict_ignored',
    '<%= config.bin %> report --account --junit report.xml',
    '<%= config.bin %> report --account --bundle failure.json',
    '<%= config.bin %> report --fail-on none   # never fails',
  ]
  static override flags = fromEnvironment({
    since: sinceFlag({
      description: 'Only requests since this time, ISO 8601 or a duration ago such as 90s, 30m or 2h.',
    }),
    ...accountFlags,
    'fail-on': Flags.string({
      description: 'Findings and problems that set exit code 3, separated by commas; or any, or none.',
      multiple: true,
      default: ['any'],
    }),
    junit: junitFlag,
    tap: tapFlag,
    bundle: outputFileFlag({
      description: 'Also write the service to this file, without secrets, for `replay`.',
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Report)
    const failOn = failingCodes(flags['fail-on'])
    const located = await this.locate(flags)
    const client = await this.clientOf(located)
    const since = flags.since && (await startOfSince(client, flags.since))
    const allClosed = flags['all-closed']
    const withAccount = flags.account || allClosed || needsAccount(failOn)
    const about = { suite: 'report', target: located.url } as const
    const file = flags.bundle
    if (file !== undefined) await requireWritableBundle(file)
    const bundle = file === undefined ? undefined : await client.bundle({ since, all_closed: allClosed })
    const report: Reported = bundle ? reportedOf(bundle.verdict, withAccount) : await client.report(since)
    if (withAccount) report.account ??= await client.account({ all_closed: allClosed })
    const { cases, misdirected, failed } = await judgeReport(client, report, failOn, about)
    if (flags.tap) this.write(toTap(cases))
    else this.print(report, (columns) => renderReported(report, columns))
    if (misdirected !== undefined) this.say(misdirected)
    if (failed) process.exitCode = exitCodes.checkFailed
    await this.writeAlso(() => writeReport(flags.junit, cases))
    if (bundle === undefined || file === undefined) return
    const judged = { account: withAccount, fail_on: failOn, exit_code: null, guests: null }
    const command = { name: about.suite, target: about.target, ...judged }
    await this.writeAlso(async () => this.say(await writeBundle(file, { ...bundle, command })))
  }
}
