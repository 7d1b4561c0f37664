import { isDeepStrictEqual } from 'node:util'
import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { writeReport } from '../cli/conformance/command.ts'
import { exitCodes, usageError } from '../cli/errors.ts'
import { brokenBundle, readBundle } from '../cli/files/bundle-file.ts'
import { fromEnvironment, junitFlag, tapFlag } from '../cli/flags.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { renderDifference, renderRecording, renderReplay, renderReported } from '../cli/render/report.ts'
import { renderWarning } from '../cli/render/messages.ts'
import {
  accountFlags,
  failingCodes,
  judgeReport,
  knownCodes,
  needsAccount,
  type Reported,
} from '../cli/report.ts'
import { listenForSignals } from '../cli/start/start.ts'
import { sinceFlag, startOfSince } from '../cli/time.ts'
import { ApiError, createClient, type Client } from '../client.ts'
import { toTap } from '../conformance/report.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import { startReplay, type StartedSimulator } from '../simulator.ts'

export default class Replay extends BaseCommand {
  static override description =
    'Replay a bundle of `report --bundle` or `exec --bundle`.\nStarts a service in memory with the recorded checks, requests, deliveries and clock, and prints the report that the recorded service gave. It sends no deliveries. Without flags, judges as the recording command did, with the same exit code for findings and problems.\nWith --serve, the inspector shows the recorded service until Ctrl-C.'
  static override examples = [
    '<%= config.bin %> replay failure.json',
    '<%= config.bin %> replay failure.json --account --junit report.xml',
    '<%= config.bin %> replay failure.json --open',
  ]
  static override args = {
    file: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'Bundle to replay; - is standard input.',
    }),
  }
  static override flags = fromEnvironment({
    since: sinceFlag({
      description: 'Only requests since this time, ISO 8601 or a duration before the recorded clock.',
    }),
    ...accountFlags,
    'fail-on': Flags.string({
      description:
        'Findings and problems that set exit code 3, separated by commas; or any, or none (default: as recorded).',
      multiple: true,
      multipleNonGreedy: true,
    }),
    junit: junitFlag,
    tap: tapFlag,
    serve: Flags.boolean({ description: 'Serve the inspector until Ctrl-C.' }),
    open: Flags.boolean({ description: 'Open the inspector in the browser; implies --serve.' }),
    port: Flags.integer({
      description:
        'Port of --serve to listen on (default: 0, which means any free port). Environment variable: TABWIRE_REPLAY_PORT.',
      env: 'TABWIRE_REPLAY_PORT',
      min: 0,
      max: 65_535,
    }),
  })

  private signals: ReturnType<typeof listenForSignals> | undefined

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Replay)
    const serves = flags.serve || flags.open
    if (flags.port !== undefined && !serves)
      throw usageError('--port needs --serve or --open. Without them, a replay opens no port.')
    const given = flags['fail-on'] && failingCodes(flags['fail-on'])
    const bundle = await readBundle(args.file)
    const failOn = given ?? knownCodes(bundle.command?.fail_on ?? ['any'])
    const simulator = await startReplay(bundle, {
      port: serves ? (flags.port ?? 0) : false,
      host: '127.0.0.1',
      // The refused call below reports it.
      onError: () => undefined,
    })
    try {
      const { url, apiKey, fetch } = simulator
      const client = createClient({ url, apiKey, fetch })
      this.sayRendered((columns) => `${renderRecording(bundle, columns)}\n`)
      const wanted = { ...flags, withAccount: flags.account || flags['all-closed'] || needsAccount(failOn) }
      const report = await this.judge(client, bundle, wanted).catch((error: unknown) => {
        const isBroken = error instanceof ApiError && error.status === 500
        throw isBroken ? brokenBundle(args.file, 'its records do not fit together') : error
      })
      const { name: suite = 'report', target = url } = bundle.command ?? {}
      const { cases, misdirected, failed } = await judgeReport(client, report, failOn, { suite, target })
      if (flags.tap) this.write(toTap(cases))
      else if (serves) this.printLine(report, (columns) => renderReported(report, columns))
      else this.print(report, (columns) => renderReported(report, columns))
      if (misdirected !== undefined) this.say(misdirected)
      if (failed) process.exitCode = exitCodes.checkFailed
      await this.writeAlso(() => writeReport(flags.junit, cases))
      if (serves) await this.serve(simulator, flags.open)
    } finally {
      await simulator.close()
    }
  }

  /** Returns the report that the flags or the recording command want. Warns when the verdict is not the recorded one. */
  private async judge(
    client: Client,
    { verdict, command, ...bundle }: Bundle,
    wanted: ReplayFlags,
  ): Promise<Reported> {
    const recorded = {
      report: await client.report(verdict.since ?? undefined),
      account: await client.account({ all_closed: verdict.all_closed }),
    }
    // Reads the requests as the inspector does, so that a broken record fails here.
    await client.requests.list({ limit: 100 })
    const { report: before, account: accountBefore } = verdict
    if (!isDeepStrictEqual(recorded, { report: before, account: accountBefore }))
      this.say(renderWarning(renderDifference(bundle)))
    const report: Reported =
      wanted.since === undefined
        ? recorded.report
        : await client.report(await startOfSince(client, wanted.since))
    if (!wanted.withAccount && command?.account !== true) return report
    const isRecorded = verdict.all_closed || !wanted['all-closed']
    return { ...report, account: isRecorded ? recorded.account : await client.account({ all_closed: true }) }
  }

  private async serve(simulator: StartedSimulator, opens: boolean): Promise<void> {
    this.signals = listenForSignals()
    const { url, baseUrl, apiKey } = simulator
    const inspector = simulator.inspectorLink()
    if (this.wantsJson)
      this.printLine({ type: 'ready', url, base_url: baseUrl, api_key: apiKey, inspector }, () => '')
    else this.sayRendered((columns) => `\n${renderReplay(inspector, columns)}`)
    if (opens && !(await openInBrowser(simulator.inspectorLink(), '')))
      this.say(renderWarning('--open: cannot open a browser here. Open the link above yourself.'))
    await this.signals.first
  }

  /** Ctrl-C ends --serve with the exit code of the report; a second one, or one before, exits at once. */
  protected override interrupted(signal: NodeJS.Signals): void {
    if (this.signals === undefined) super.interrupted(signal)
    else this.signals.raise()
  }
}

/** Flags that select the report. */
interface ReplayFlags {
  since?: Parameters<typeof startOfSince>[1] | undefined
  'all-closed': boolean
  withAccount: boolean
}
