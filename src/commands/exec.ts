import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { requireReportFile, writeReport } from '../cli/conformance/command.ts'
import { CommandError, exitCodes, usageError } from '../cli/errors.ts'
import {
  playAlong,
  type PlayedGuests,
  silenceWarning,
  runCommand,
  type RunningCommand,
  splitCommand,
} from '../cli/exec.ts'
import { requireWritableBundle, writeBundle } from '../cli/files/bundle-file.ts'
import { fromEnvironment, junitFlag, outputFileFlag, splitAtCommas } from '../cli/flags.ts'
import { readableCurrencies } from '../cli/guests.ts'
import { faultsOfWords } from '../cli/parse-faults.ts'
import { renderBug, renderWarning } from '../cli/render/messages.ts'
import { renderReported } from '../cli/render/report.ts'
import { count } from '../model/text/count.ts'
import { renderGuestsReport } from '../cli/render/guests.ts'
import {
  failingCodes,
  judgeReport,
  mergedReport,
  misdirectedCalls,
  needsAccount,
  reportedOf,
  type Reported,
} from '../cli/report.ts'
import { startFlags } from '../cli/start/flags.ts'
import { optionsOf, warningsOf } from '../cli/start/start.ts'
import { createClient, type Client } from '../client.ts'
import { readAuthorityCertificate } from '../certificates/authority.ts'
import { authorityFile } from '../data-directory.ts'
import type { Report } from '../model/simulator/report.ts'
import { startSimulator, type StartedSimulator } from '../simulator.ts'
import { foreignSecrets, prepareDataDirectory } from '../cli/trust/made-here.ts'

const {
  open: _open,
  'in-memory': _inMemory,
  dotenv: _dotenv,
  log: _log,
  store: _store,
  sandbox: _sandbox,
  'store-key': _storeKey,
  'store-key-file': _storeKeyFile,
  ...flagsOfStart
} = startFlags

/** The examined service, as reports name it. */
const TARGET = 'a new Tabwire service in memory'

function replacedText(replacements: number): string {
  return `CMD replaced the state ${count(replacements, 'time')}. The findings are those of the whole run, but the account and the bundle begin with the last replacement.`
}

/** Returns true when no request to the API arrived, as from a program with the URL of another service. */
async function sentNothing(client: Client, earlier: readonly Report[]): Promise<boolean> {
  return earlier.length === 0 && (await client.requests.list({ limit: 1 })).data.length === 0
}

/** Returns a flag of `start` with another description: nothing of the service outlives the command. */
function described<F extends object>(flag: F, description: string): F {
  return { ...flag, description }
}

const execFlags = fromEnvironment({
  ...flagsOfStart,
  'api-key': described(flagsOfStart['api-key'], 'API key to accept, with all scopes (default: a new key).'),
  'deny-private': described(
    flagsOfStart['deny-private'],
    'Refuse endpoints on loopback and private addresses.',
  ),
  'data-dir': described(
    flagsOfStart['data-dir'],
    'Directory of the local authority, whose certificates the service trusts.',
  ),
  seed: described(flagsOfStart.seed, 'Seed for a reproducible run, 0 or more; freezes the clock.'),
  port: Flags.integer({
    description: 'Port to listen on; 0 means any free port. Environment variable: TABWIRE_EXEC_PORT.',
    env: 'TABWIRE_EXEC_PORT',
    min: 0,
    max: 65_535,
    default: 0,
  }),
  guests: Flags.integer({
    description:
      'Play guests while CMD runs: up to this number at each check, 1 to 12. Adds the account to the report.',
    min: 1,
    max: 12,
  }),
  'guests-seed': Flags.integer({
    description: 'Seed of the guests and of --faults, 0 or more (default: --seed, or 1).',
    min: 0,
  }),
  faults: Flags.string({
    description: 'Faults to inject while CMD runs, separated by commas, such as drop=0.2,error=0.1.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'all-closed': Flags.boolean({
    description: 'Expect every check to be closed at the end; adds the account to the report.',
  }),
  junit: junitFlag,
  bundle: outputFileFlag({
    description:
      'When the exit code is not 0, write the service to this file, without secrets, for `replay`.',
  }),
  'fail-on': Flags.string({
    description:
      'Findings and problems that make the exit code 3 when CMD succeeds, separated by commas; or any.',
    multiple: true,
    default: ['none'],
  }),
})

/** @throws CommandError (usage) for `--https=false`: oclif would ignore the value in a command that takes any words. */
function requireNoValues(words: readonly string[]): void {
  const flags: Readonly<Record<string, { type: string }>> = { ...BaseCommand.baseFlags, ...execFlags }
  for (const word of words) {
    const [, name = '', value] = /^--([\w-]+)=(.*)$/.exec(word) ?? []
    if (flags[name]?.type === 'boolean')
      throw usageError(`--${name} takes no value, got ${JSON.stringify(value)}.`)
  }
}

export default class Exec extends BaseCommand {
  static override description =
    "Run a command with a service of its own.\nStarts the service in memory on a free port, sets TABWIRE_URL, TABWIRE_BASE_URL and TABWIRE_API_KEY for the command, and stops the service when the command ends. With --https, also sets TABWIRE_CACERT, and NODE_EXTRA_CA_CERTS unless it is set. Prints the report of findings to stderr.\nWith --guests, guests claim and pay on every open check while the command runs. When it ends, the service clock moves on until all retries are made, and the report has the account. Delays of --faults take no real time. Exits with the command's code, or with 3 when --fail-on matches."
  static override usage = 'exec [FLAGS] -- CMD [ARG...]'
  static override examples = [
    '<%= config.bin %> exec -- npm test',
    '<%= config.bin %> exec --fail-on any -- npx vitest run',
    '<%= config.bin %> exec --allow-http-loopback --seed 7 -- dotnet test',
    '<%= config.bin %> exec --guests 4 --faults "drop=0.2,error=0.1" --fail-on any -- npm run service',
    '<%= config.bin %> exec --bundle failure.json --fail-on any -- npm test',
  ]
  static override strict = false
  static override flags = execFlags

  private command: string[] = []
  private running: RunningCommand | undefined
  private wasInterrupted = false
  private hasEnded = false
  private wasDirectoryGiven = false
  /** Directory of a new authority, which is removed at the end. */
  private temporary: string | undefined

  protected override async init(): Promise<void> {
    const { own, command } = splitCommand(this.argv, { ...Exec.baseFlags, ...execFlags })
    requireNoValues(own)
    this.argv = own
    this.command = command
    await super.init()
  }

  async run(): Promise<void> {
    const { flags, metadata } = await this.parse(Exec)
    this.wasDirectoryGiven = metadata.flags['data-dir']?.setFromDefault !== true
    if ((this.command[0] ?? '') === '')
      throw usageError('CMD is missing. Pass the command after --, for example: tabwire exec -- npm test')
    const failOn = failingCodes(flags['fail-on'])
    const faults = faultsOfWords(splitAtCommas(flags.faults ?? []), '--faults')
    if (flags.bundle !== undefined) await requireWritableBundle(flags.bundle)
    await requireReportFile(flags.junit)
    const own = flags['data-dir']
    const directory = await this.placeOf(flags.https, own)
    for (const warning of [...(await foreignSecrets(own)), ...warningsOf(flags)])
      this.say(renderWarning(warning))
    if (flags.https) await prepareDataDirectory(directory)
    const earlier: Report[] = []
    /** Message about what arrived in place of a push, and is no longer in the log or never was. */
    let unlogged: string | undefined
    const simulator: StartedSimulator = await startSimulator({
      ...(await optionsOf({ ...flags, 'in-memory': true, 'data-dir': directory })),
      onReplace: async () => {
        const client = createClient(simulator)
        const report = await client.report()
        earlier.push(report)
        unlogged ??= await misdirectedCalls(client, report)
      },
      onNotice: (notice) => {
        // Of a failed TLS handshake, once CMD runs.
        if (this.running !== undefined)
          unlogged ??= `No push arrived, but a connection without a request. ${notice}`
        this.say(notice)
      },
      onError: (error, requestId) => this.say(renderBug(error, requestId)),
    })
    try {
      const client = createClient(simulator)
      const seed = flags['guests-seed'] ?? flags.seed ?? 1
      if (faults.length > 0) await client.faults.set({ seed, faults })
      const playing =
        flags.guests === undefined
          ? undefined
          : playAlong(client, { seed, guests: flags.guests }, () => simulator.idle())
      const code = await this.runWith(simulator, directory)
      // Read before the guests end, which clears the faults.
      const injected = flags.bundle === undefined ? undefined : await client.faults.show()
      const allClosed = flags['all-closed']
      const withAccount = playing !== undefined || allClosed || needsAccount(failOn)
      if (playing !== undefined) await this.tellGuests(client, playing)
      // Receivers outside of CMD may still be answering.
      else if (withAccount) await simulator.idle()
      const bundle = injected && { ...(await client.bundle({ all_closed: allClosed })), faults: injected }
      const last: Reported = bundle ? reportedOf(bundle.verdict, withAccount) : await client.report()
      const report: Reported = { ...last, ...mergedReport([...earlier, last]) }
      if (withAccount) report.account ??= await client.account({ all_closed: allClosed })
      // Standard output belongs to the command.
      this.sayResult(report, (columns) => renderReported(report, columns))
      const about = { suite: 'exec', target: TARGET } as const
      const { cases, misdirected, failed } = await judgeReport(client, report, failOn, about, unlogged)
      if (misdirected !== undefined) this.say(misdirected)
      else if (report.pushes === 0 && !this.wantsJson && (await sentNothing(client, earlier)))
        this.say(renderWarning(silenceWarning(simulator.url)))
      if (earlier.length > 0 && (withAccount || bundle !== undefined) && !this.wantsJson)
        this.say(renderWarning(replacedText(earlier.length)))
      process.exitCode = code === 0 && failed ? exitCodes.checkFailed : code
      await this.writeAlso(() => writeReport(flags.junit, cases))
      const file = flags.bundle
      if (bundle === undefined || file === undefined || process.exitCode === 0) return
      const guests = flags.guests === undefined ? null : { seed, guests: flags.guests }
      const judged = { account: withAccount, fail_on: failOn, exit_code: code, guests }
      const recorded = { ...bundle, command: { name: 'exec', target: TARGET, ...judged } } as const
      await this.writeAlso(async () => this.say(await writeBundle(file, recorded)))
    } finally {
      await simulator.close()
    }
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.removeTemporary()
    process.off('exit', this.removeTemporary)
    await super.finally(error)
  }

  /**
   * Returns the directory of the authority: a temporary one for HTTPS where there is none yet, so that nothing is left in
   * the working directory.
   */
  private async placeOf(https: boolean, own: string): Promise<string> {
    const isNew = https && (await readAuthorityCertificate(own)) === undefined
    if (!isNew || this.wasDirectoryGiven) return own
    this.temporary = await mkdtemp(join(tmpdir(), 'tabwire-exec-')).catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException
      throw new CommandError(
        'no_temporary_directory',
        `Cannot create a directory in ${tmpdir()} (${code}). Name another one with TMPDIR, on Windows with TEMP, or pass --data-dir.`,
      )
    })
    // A signal after the command ends this process at once.
    process.once('exit', this.removeTemporary)
    return this.temporary
  }

  private readonly removeTemporary = () => {
    // Retries: on Windows, a scanner may have a file open.
    if (this.temporary !== undefined) rmSync(this.temporary, { recursive: true, force: true, maxRetries: 5 })
  }

  private async runWith({ url, baseUrl, apiKey, ca }: StartedSimulator, directory: string): Promise<number> {
    if (this.wasInterrupted) return exitCodes.interrupted
    const file = authorityFile(directory)
    // Commands inside CMD, such as `certs create`, use the same authority.
    const isDefault = this.temporary === undefined && !this.wasDirectoryGiven
    const place = isDefault ? {} : { TABWIRE_DATA_DIR: resolve(directory) }
    const trust = ca === undefined ? {} : { TABWIRE_CACERT: file }
    const variables = {
      ...{ TABWIRE_URL: url, TABWIRE_BASE_URL: baseUrl, TABWIRE_API_KEY: apiKey },
      ...place,
      ...trust,
    }
    this.running = await runCommand(
      this.command,
      variables,
      ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: file },
    )
    // A signal may have come while it started.
    if (this.wasInterrupted) this.running.signal('SIGTERM')
    const code = await this.running.ended
    this.hasEnded = true
    return code === 0 && this.wasInterrupted ? exitCodes.interrupted : code
  }

  /** Ends the play, and prints what the guests did. */
  private async tellGuests(client: Client, playing: PlayedGuests): Promise<void> {
    const report = await playing.settle()
    if (this.wantsJson) return
    const currencies = await readableCurrencies(client)
    this.say(`${renderGuestsReport(report, currencies[report.location_id ?? ''])}\n`)
  }

  /** The command goes on, and its exit code counts: only its output has no reader. */
  protected override abandoned(): void {}

  /** Passes the signal on: the command decides how it ends, and the service ends after it. Then a signal ends this one. */
  protected override interrupted(signal: NodeJS.Signals): void {
    if (this.hasEnded) return super.interrupted(signal)
    this.wasInterrupted = true
    this.running?.signal(signal)
  }
}
