import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { requireNode } from '../cli/doctor/node.ts'
import { exitCodes, usageError } from '../cli/errors.ts'
import { runCommand, type RunningCommand } from '../cli/exec/run.ts'
import { splitCommand } from '../cli/exec/split.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { renderBug, renderWarning } from '../cli/render/messages.ts'
import { renderReport } from '../cli/render/results.ts'
import { failingCodes, fails } from '../cli/report.ts'
import { startFlags } from '../cli/start/flags.ts'
import { optionsOf, warningsOf } from '../cli/start/start.ts'
import { createClient } from '../client.ts'
import { readAuthorityCertificate } from '../certificates.ts'
import { authorityFile } from '../data-directory.ts'
import { startSimulator, type Simulator } from '../simulator.ts'
import { foreignSecrets, prepareDataDirectory } from '../cli/trust/made-here.ts'

const { open: _open, 'in-memory': _inMemory, dotenv: _dotenv, ...flagsOfStart } = startFlags

/** Returns a flag of `start` with another description: nothing of the service outlives the command. */
function described<F extends object>(flag: F, description: string): F {
  return { ...flag, description }
}

const execFlags = fromEnvironment({
  ...flagsOfStart,
  'api-key': described(flagsOfStart['api-key'], 'API key to accept, with all scopes (default: a new key).'),
  'data-dir': described(
    flagsOfStart['data-dir'],
    'Directory of the local authority, whose certificates the service trusts.',
  ),
  port: Flags.integer({
    description: 'Port to listen on; 0 means any free port.',
    min: 0,
    max: 65_535,
    default: 0,
  }),
  'fail-on': Flags.string({
    description: 'Findings that make the exit code 3 when CMD succeeds, separated by commas; or any.',
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
    "Run a command with a service of its own.\nStarts the service in memory on a free port, sets TABWIRE_URL, TABWIRE_BASE_URL and TABWIRE_API_KEY for the command, and stops the service when the command ends. With --https, also sets TABWIRE_CACERT, and NODE_EXTRA_CA_CERTS unless it is set. Prints the report of findings to stderr. Exits with the command's code, or with 3 when --fail-on matches."
  static override usage = 'exec [FLAGS] -- CMD [ARG...]'
  static override examples = [
    '<%= config.bin %> exec -- npm test',
    '<%= config.bin %> exec --fail-on any -- npx vitest run',
    '<%= config.bin %> exec --allow-http-loopback --seed 7 -- dotnet test',
  ]
  static override strict = false
  static override flags = execFlags

  private command: string[] = []
  private running: RunningCommand | undefined
  private wasInterrupted = false
  private wasDirectoryGiven = false
  private isTemporary = false

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
      throw usageError(
        'Missing argument: CMD. Pass the command to run behind --, for example: tabwire exec -- npm test',
      )
    const failOn = failingCodes(flags['fail-on'])
    requireNode()
    const own = flags['data-dir']
    const { path: directory, remove } = await this.placeOf(flags.https, own)
    for (const warning of [...(await foreignSecrets(own)), ...warningsOf(flags)])
      this.say(renderWarning(warning))
    if (flags.https) await prepareDataDirectory(directory)
    const simulator = await startSimulator({
      ...(await optionsOf({ ...flags, 'in-memory': true, 'data-dir': directory })),
      onNotice: (notice) => this.say(notice),
      onError: (error, requestId) => this.say(renderBug(error, requestId)),
    })
    try {
      const code = await this.runWith(simulator, directory)
      const found = await this.tell(simulator, failOn)
      process.exitCode = code === 0 && found ? exitCodes.checkFailed : code
    } finally {
      await simulator.close()
      await remove()
    }
  }

  /**
   * Returns the directory of the authority: a temporary one for HTTPS where there is none yet, so that nothing is left in
   * the working directory.
   */
  private async placeOf(https: boolean, own: string) {
    const isNew = https && (await readAuthorityCertificate(own)) === undefined
    if (!isNew || this.wasDirectoryGiven) return { path: own, remove: async () => undefined }
    const path = await mkdtemp(join(tmpdir(), 'tabwire-exec-'))
    this.isTemporary = true
    return { path, remove: () => rm(path, { recursive: true, force: true }) }
  }

  private async runWith({ url, baseUrl, apiKey, ca }: Simulator, directory: string): Promise<number> {
    if (this.wasInterrupted) return exitCodes.interrupted
    const file = authorityFile(directory)
    // Commands inside CMD, such as `certs create`, use the same authority.
    const place = this.isTemporary ? { TABWIRE_DATA_DIR: directory } : {}
    const trust = ca === undefined ? {} : { TABWIRE_CACERT: file, ...place }
    const variables = { TABWIRE_URL: url, TABWIRE_BASE_URL: baseUrl, TABWIRE_API_KEY: apiKey, ...trust }
    this.running = await runCommand(
      this.command,
      variables,
      ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: file },
    )
    const code = await this.running.ended
    return code === 0 && this.wasInterrupted ? exitCodes.interrupted : code
  }

  /** Prints the report to stderr: stdout belongs to the command. Returns true when --fail-on matches. */
  private async tell({ url, apiKey, fetch }: Simulator, failOn: readonly string[]): Promise<boolean> {
    const report = await createClient({ url, apiKey, fetch }).report()
    this.sayResult(report, (columns) => renderReport(report, columns))
    return fails(report, failOn)
  }

  /** Passes the signal on: the command decides how it ends, and the service ends after it. */
  protected override interrupted(signal: NodeJS.Signals): void {
    this.wasInterrupted = true
    this.running?.signal(signal)
  }
}
