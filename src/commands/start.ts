import { BaseCommand } from '../cli/base-command.ts'
import { readConfigFile, settingsIn } from '../cli/config/file.ts'
import { openEnvFile } from '../cli/files/env-file.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { renderBug, renderReady, renderWarning } from '../cli/render/messages.ts'
import { createJsonLog, requireOneStore, requireRepeatable, startFlags } from '../cli/start/flags.ts'
import { announce, listenForSignals, optionsOf, warningsOf } from '../cli/start/start.ts'
import { foreignSecrets, prepareDataDirectory } from '../cli/trust/made-here.ts'
import { removeRun } from '../data-directory.ts'
import { startSimulator, type StartedSimulator } from '../simulator.ts'
import { runningService } from '../cli/running-service.ts'
import { CommandError, describeFailure } from '../cli/errors.ts'

export default class Start extends BaseCommand {
  static override description =
    'Start the service. Ctrl-C stops it.\nServes the API under /v1, delivers webhooks over HTTPS and stores its data in .tabwire.'
  static override examples = [
    '<%= config.bin %> start',
    '<%= config.bin %> start --port 0 --in-memory --json',
    '<%= config.bin %> start --allow-http-loopback   # also accepts receivers on http://localhost',
  ]
  static override flags = startFlags

  private readonly signals = listenForSignals()

  async run(): Promise<void> {
    const { flags } = await this.parse(Start)
    const directory = flags['data-dir']
    if (flags.log === 'json') this.jsonLog = createJsonLog((line) => this.sayJson(line))
    requireOneStore(flags)
    requireRepeatable(flags)
    const envFile = flags.dotenv
    const env = envFile === undefined ? undefined : await openEnvFile(envFile)
    const options = await optionsOf(flags)
    const foreign = await foreignSecrets(directory)
    if (!flags['in-memory'] || flags.https) await prepareDataDirectory(directory)
    const simulator = await startSimulator({
      ...options,
      onNotice: (notice) => this.tell(notice),
      onError: (error, requestId) => this.say(renderBug(error, requestId)),
      ...this.jsonLog?.callbacks,
    }).catch(async (error: unknown) => {
      throw (await alreadyRunning(error, directory, flags.port)) ?? (await portInUse(error, flags)) ?? error
    })
    const { url: TABWIRE_URL, baseUrl: TABWIRE_BASE_URL, apiKey: TABWIRE_API_KEY } = simulator
    const variables = { TABWIRE_URL, TABWIRE_BASE_URL, TABWIRE_API_KEY }
    const tightened = await env?.write(variables).catch(async (error: unknown) => {
      await simulator.close()
      throw error
    })
    if (tightened !== undefined) this.tell(tightened)
    const file = await readConfigFile(flags.config)
    const settings = file === undefined ? [] : settingsIn(file)
    if (file !== undefined && settings.length > 0)
      this.tell(`Settings from ${file.path}: ${settings.join(', ')}.`)
    for (const warning of [...foreign, ...warningsOf(flags)]) this.warnOf(warning)
    await announce(simulator, directory, flags['in-memory'] || flags.store !== undefined).catch(() =>
      this.warnOf(UNANNOUNCED),
    )
    this.ready(simulator)
    if (flags.open && !(await openInBrowser(simulator.inspectorLink(), directory))) this.warnOf(NO_BROWSER)
    await this.signals.first
    this.jsonLog?.tell('info', 'The service stops.')
    await simulator.close({ drain: flags.store !== undefined })
    await removeRun(directory, process.pid)
  }

  private ready(simulator: StartedSimulator): void {
    const { url, baseUrl, apiKey } = simulator
    if (this.wantsJson)
      this.printLine({ type: 'ready', url, base_url: baseUrl, api_key: apiKey, pid: process.pid }, () => '')
    // Without the key and the link of the inspector: logs are kept, and others read them.
    if (this.jsonLog !== undefined) this.jsonLog.tell('info', 'Tabwire is ready.', { url })
    else if (!this.wantsJson) {
      const inspector = simulator.inspectorLink()
      const { origin } = new URL(inspector)
      this.sayRendered((columns) => renderReady({ url: origin, apiKey, inspector }, columns))
    }
  }

  /** The log of `--log json`. */
  private jsonLog: ReturnType<typeof createJsonLog> | undefined

  private tell(notice: string): void {
    if (this.jsonLog === undefined) this.say(notice)
    else this.jsonLog.tell('info', notice)
  }

  private warnOf(warning: string): void {
    if (this.jsonLog === undefined) this.say(renderWarning(warning))
    else this.jsonLog.tell('warn', warning)
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<void> {
    if (this.jsonLog === undefined || this.wantsJson) return super.catch(error)
    const { message, exitCode } = describeFailure(error)
    this.jsonLog.tell('error', message)
    process.exitCode = exitCode
  }

  /** The first signal lets everything finish (`run` waits for it), the second ends at once. */
  protected override interrupted(): void {
    this.signals.raise()
  }
}

const NO_BROWSER = '--open: cannot open a browser here. Open the link above yourself.'

const UNANNOUNCED =
  'Cannot write to the data directory. Other commands need --url and --api-key to find this service.'

/** Returns the message when the service runs here already; `undefined` for other failures. */
async function alreadyRunning(
  error: unknown,
  directory: string,
  port: number,
): Promise<CommandError | undefined> {
  const name = error instanceof Error ? error.name : ''
  if (name !== 'DirectoryInUse' && name !== 'PortUnavailable') return undefined
  const running = await runningService(directory)
  if (running === undefined) return undefined
  if (name === 'PortUnavailable' && new URL(running.url).port !== String(port)) return undefined
  return new CommandError(
    'already_running',
    `Tabwire already runs here at ${running.url} (pid ${running.pid}). Use it, stop it, or start another one with --data-dir and --port.`,
  )
}

/** Returns the message when another program uses the port; `undefined` for other failures. */
async function portInUse(
  error: unknown,
  { host, port }: { host: string; port: number },
): Promise<CommandError | undefined> {
  if (!(error instanceof Error) || error.name !== 'PortUnavailable') return undefined
  const { whyNotFree } = await import('../cli/doctor/environment.ts')
  if ((await whyNotFree({ host, port })) !== 'EADDRINUSE') return undefined
  return new CommandError(
    'failed',
    `Port ${port} is already in use. Choose another with --port (0 = any free port).`,
  )
}
