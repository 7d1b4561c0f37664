import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { CommandError, exitCodes } from '../cli/failure.ts'
import { readConfigFile, settingsIn } from '../cli/config/file.ts'
import { fromConfigFile } from '../cli/config/defaults.ts'
import { openEnvFile } from '../cli/env-file.ts'
import { apiKeyFlag, envFileFlag, listed, placeFlags, serviceNameFlag } from '../cli/flags.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { readCertificate } from '../cli/read-certificate.ts'
import { rateLimitFlag } from '../cli/rate-limit-flag.ts'
import { renderBug, renderReady, renderWarning } from '../cli/render/ready.ts'
import { announce } from '../cli/start/announce.ts'
import { clockFlag, hostFlag } from '../cli/start/flags.ts'
import { listenForSignals } from '../cli/start/signals.ts'
import { warningsOf } from '../cli/start/warnings.ts'
import { foreignSecrets } from '../cli/trust/foreign-secrets.ts'
import { prepareDataDirectory } from '../cli/trust/made-here.ts'
import { removeRun } from '../data-directory.ts'
import { startSimulator, type Simulator } from '../simulator.ts'

export default class Start extends BaseCommand {
  static override description =
    'Run the service until Ctrl-C.\nIt serves the API under /v1, delivers over HTTPS, and keeps its data in .tabwire.'
  static override examples = [
    '<%= config.bin %> start',
    '<%= config.bin %> start --port 0 --in-memory --json',
    '<%= config.bin %> start --allow-http-loopback   # receivers on plain http://localhost, too',
  ]
  static override flags = fromConfigFile({
    port: Flags.integer({ description: 'Port; 0 takes any free one.', min: 0, max: 65_535, default: 4100 }),
    host: hostFlag({ description: 'Address to listen on.', default: '127.0.0.1' }),
    ...placeFlags,
    'in-memory': Flags.boolean({ description: 'Keep nothing: all is gone when the service ends.' }),
    https: Flags.boolean({ description: 'Serve HTTPS, with a certificate of the local authority.' }),
    'api-key': apiKeyFlag({
      description: 'Accept this API key, with all scopes; otherwise one is made and kept.',
    }),
    'service-name': serviceNameFlag,
    strict: Flags.boolean({ description: 'Refuse pushes with unknown fields.' }),
    'allow-http-loopback': Flags.boolean({
      description: 'Accept http: endpoints on loopback addresses, which the specification forbids.',
    }),
    cacert: Flags.string({
      description: "PEM file of an authority to trust for receivers' certificates.",
      multiple: true,
    }),
    insecure: Flags.boolean({ description: "Do not check receivers' certificates." }),
    'deny-private': Flags.boolean({ description: 'Refuse endpoints on loopback and private addresses.' }),
    'allowed-host': Flags.string({ description: 'Answer requests for this host name, too.', multiple: true }),
    'keep-events': Flags.integer({
      description: 'How many events are kept, with their deliveries; pending ones are kept beyond it.',
      min: 1,
      default: 10_000,
    }),
    'disable-after': Flags.integer({
      description: 'Failing deliveries in a row that disable an endpoint; 0 never does.',
      min: 0,
      default: 10,
    }),
    seed: Flags.integer({
      description: 'A run that can be repeated: all follows from this number, and the clock stands still.',
      min: 0,
    }),
    'rate-limit': rateLimitFlag({
      description:
        'Requests to /v1 that each key may make: 10 or 10/s, 600/m, 5000/h. More are answered 429.',
    }),
    clock: clockFlag({ description: 'Where the clock of the service starts, ISO 8601; by default now.' }),
    'sign-time': Flags.string({
      description: 'Sign with real time, or with that of the clock, which correct receivers then reject.',
      options: ['real', 'virtual'],
      default: 'real',
    }),
    'env-file': envFileFlag,
    open: Flags.boolean({ description: 'Open the inspector in the browser.' }),
  })

  private readonly signals = listenForSignals()

  async run(): Promise<void> {
    const { flags } = await this.parse(Start)
    const directory = flags['data-dir']
    if (flags.seed !== undefined && !flags['in-memory'])
      throw new CommandError('usage', UNREPEATABLE, exitCodes.usage)
    const envFile = flags['env-file']
    const env = envFile === undefined ? undefined : await openEnvFile(envFile)
    const ca = await Promise.all(listed(flags.cacert ?? []).map(readCertificate))
    const foreign = await foreignSecrets(directory)
    if (!flags['in-memory'] || flags.https) await prepareDataDirectory(directory)
    const simulator = await startSimulator({
      dataDirectory: flags['in-memory'] ? undefined : directory,
      authorityDirectory: directory,
      host: flags.host,
      port: flags.port,
      https: flags.https,
      apiKey: flags['api-key'],
      serviceName: flags['service-name'],
      strict: flags.strict,
      allowHttpLoopback: flags['allow-http-loopback'],
      denyPrivate: flags['deny-private'],
      ca,
      insecure: flags.insecure,
      allowedHosts: listed(flags['allowed-host'] ?? []),
      disableAfter: flags['disable-after'],
      keepEvents: flags['keep-events'],
      rateLimit: flags['rate-limit'],
      startAt: flags.clock,
      seed: flags.seed,
      signTime: flags['sign-time'] === 'virtual' ? 'virtual' : 'real',
      onNotice: (notice) => this.say(notice),
      onError: (error, requestId) => this.say(renderBug(error, requestId)),
    })
    const { url: TABWIRE_URL, baseUrl: TABWIRE_BASE_URL, apiKey: TABWIRE_API_KEY } = simulator
    await env?.write({ TABWIRE_URL, TABWIRE_BASE_URL, TABWIRE_API_KEY }).catch(async (error: unknown) => {
      await simulator.close()
      throw error
    })
    const file = await readConfigFile(flags.config)
    const settings = file === undefined ? [] : settingsIn(file)
    if (file !== undefined && settings.length > 0)
      this.say(`Settings from ${file.path}: ${settings.join(', ')}.`)
    for (const warning of [...foreign, ...warningsOf(flags)]) this.say(renderWarning(warning))
    await announce(simulator, directory, flags['in-memory']).catch(() => this.say(renderWarning(UNANNOUNCED)))
    this.ready(simulator)
    if (flags.open && !(await openInBrowser(simulator.inspectorLink()))) this.say(renderWarning(NO_BROWSER))
    await this.signals.first
    await simulator.close()
    await removeRun(directory, process.pid)
  }

  private ready(simulator: Simulator): void {
    const { url, baseUrl, apiKey } = simulator
    if (this.wantsJson)
      this.printLine({ type: 'ready', url, base_url: baseUrl, api_key: apiKey, pid: process.pid }, () => '')
    else
      this.say(
        renderReady({ url, baseUrl, apiKey, inspector: simulator.inspectorLink() }, this.terminal.columns),
      )
  }

  /** The first signal lets everything finish (`run` waits for it), the second ends at once. */
  protected override interrupted(): void {
    this.signals.raise()
  }
}

const UNREPEATABLE =
  '--seed needs --in-memory: over kept data, the next start would make the same identifiers again.'

const NO_BROWSER = '--open: no browser could be opened here. Open the link above yourself.'

const UNANNOUNCED =
  'The data directory cannot be written to, so other commands need --url and --api-key to find this service.'
