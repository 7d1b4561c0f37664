import { Flags, type Interfaces } from '@oclif/core'
import { hostname } from 'node:os'
import { usageError } from '../errors.ts'
import {
  apiKeyFlag,
  serviceDotenvFlag,
  placeFlags,
  parsedBy,
  secretFromFileFlag,
  serviceNameFlag,
  fromEnvironment,
} from '../flags.ts'
import {
  readHost,
  readOrderBy,
  readPublicUrl,
  readRateLimit,
  readSandbox,
  readStoreUrl,
  readStoreKey,
  readTime,
  signTimes,
  texts,
  wholeNumbers,
  type SignTime,
} from '../../model/simulator/settings.ts'
import { PROBES, type AnsweredRequest } from '../../model/simulator/request-entry.ts'
import type { SimulatorOptions } from '../../simulator-options.ts'
import { settingName, relativeToFile, isGuarded, requireTrusted } from '../config/settings.ts'
import { checkConfig, readConfigFile, wrongConfig, type ConfigFile } from '../config/file.ts'
import type { FlagShape } from '../config/schema.ts'

interface DefaultContext {
  flags: Record<string, unknown>
  options: unknown
}
type Flag = FlagShape & Pick<Interfaces.OptionFlag<unknown>, 'parse'>
type FlagShapes = Readonly<Record<string, FlagShape>>

/** Flags that a file cannot set: the file itself, the key of the database, files with secrets, and the output format. */
const notInFile = new Set(['config', 'json', 'api-key-file', 'store-key', 'store-key-file'])

/** Settings that name files, relative to the settings file. */
const paths = new Set(['data-dir', 'cacert', 'dotenv'])

/**
 * Gives flags their environment variables, and settings of `tabwire.config.json` as defaults. oclif asks for a
 * default when neither the command line nor the environment gives a value, which is the precedence of contract
 * section 12. `--no-…` switches off a switch that the file sets.
 */
function fromConfigFile<T extends Record<string, { env?: string }>>(flags: T): T {
  const settable = settableFlags(fromEnvironment(flags) as unknown as FlagShapes)
  const settingsOf = async (file: ConfigFile) => {
    // Loaded late: most users have no settings file.
    const { configSchema } = await import('../config/schema.ts')
    return checkConfig(file, configSchema(settable), file.content) as Record<string, unknown>
  }
  /** Checked once, and not for each flag: that would take 0.1 s. */
  const checked = new WeakMap<ConfigFile, ReturnType<typeof settingsOf>>()
  const configurable = Object.entries(settable).map(([name, flag]) => [
    name,
    {
      ...flag,
      ...(flag.type === 'boolean' && { allowNo: true }),
      // Help shows this, and the manifest keeps it.
      defaultHelp: flag.defaultHelp ?? (async () => flag.default),
      default: async (given: DefaultContext) => {
        const file = await readConfigFile(given.flags.config as string | undefined)
        if (file === undefined) return presetOf(flag, given)
        const settings = checked.get(file) ?? settingsOf(file)
        checked.set(file, settings)
        const value = (await settings)[settingName(name)]
        if (value === undefined) return presetOf(flag, given)
        if (isGuarded(settingName(name), value)) await requireTrusted(file)
        return parsed(file, name, flag as Flag, value)
      },
    },
  ])
  return { ...flags, ...(Object.fromEntries(configurable) as object) }
}

/** Returns the flags that a settings file can set, by name. */
export function settableFlags(flags: FlagShapes): FlagShapes {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !notInFile.has(name)))
}

function presetOf({ default: preset }: FlagShape, given: DefaultContext): unknown {
  return typeof preset === 'function' ? (preset as (given: DefaultContext) => unknown)(given) : preset
}

/** Parses a setting as its flag parses the command line. */
async function parsed(file: ConfigFile, name: string, flag: Flag, value: unknown): Promise<unknown> {
  if (flag.type === 'boolean') return value
  if (Array.isArray(value)) return Promise.all(value.map((one) => parsed(file, name, flag, one)))
  const text = paths.has(name) ? await relativeToFile(file, settingName(name), String(value)) : String(value)
  try {
    return await flag.parse(text, {} as never, flag as never)
  } catch (error) {
    const { message } = error as Error
    throw wrongConfig(
      `${file.path}: ${settingName(name)}${message.startsWith('must ') ? ' ' : ': '}${message}`,
    )
  }
}

const logFormats = ['text', 'json'] as const
type LogFormat = (typeof logFormats)[number]

const clockFlag = Flags.custom({ parse: parsedBy(readTime) })
const hostFlag = Flags.custom({ parse: parsedBy(readHost) })
const orderByFlag = Flags.custom({ parse: parsedBy(readOrderBy) })
const storeFlag = Flags.custom({ parse: parsedBy(readStoreUrl) })
const storeKeyFlag = Flags.custom({ parse: parsedBy(readStoreKey) })
const sandboxFlag = Flags.custom({ parse: parsedBy(readSandbox) })
const publicUrlFlag = Flags.custom({ parse: parsedBy(readPublicUrl) })
const rateLimitFlag = Flags.custom({ parse: parsedBy(readRateLimit) })

/** Flags of `start`, from the command line, the environment and the settings file; `doctor` checks the same ones. */
export const startFlags = fromConfigFile({
  port: Flags.integer({ description: 'Port to listen on; 0 means any free port.', ...wholeNumbers.port }),
  host: hostFlag({ description: 'Address to listen on.', default: texts.host }),
  ...placeFlags,
  store: storeFlag({
    description: 'PostgreSQL database for all data, shared by instances: postgres://user@host/database.',
  }),
  sandbox: sandboxFlag({ description: 'Sandbox in the database of --store: a schema (default: tabwire).' }),
  'store-key': storeKeyFlag({
    description: 'Key that encrypts secrets in the database of --store: 32 bytes in base64.',
  }),
  'store-key-file': secretFromFileFlag('the key of --store-key'),
  'in-memory': Flags.boolean({ description: 'Keep all data in memory; it is lost when the service stops.' }),
  https: Flags.boolean({ description: 'Serve HTTPS, with a certificate of the local authority.' }),
  'api-key': apiKeyFlag({
    description: 'API key to accept, with all scopes (default: a new key, stored).',
  }),
  'api-key-file': secretFromFileFlag('the API key to accept'),
  'service-name': serviceNameFlag,
  strict: Flags.boolean({ description: 'Refuse pushes with unknown fields.' }),
  'order-by': orderByFlag({
    description: 'Push field that orders pushes: an integer or an ISO 8601 time.',
    default: texts.orderBy,
  }),
  'allow-http-loopback': Flags.boolean({
    description: 'Accept http: endpoints on loopback addresses, which the specification forbids.',
  }),
  'allow-http-host': Flags.string({
    description: 'Also accept http: endpoints on this host, such as host.docker.internal from a container.',
    multiple: true,
  }),
  cacert: Flags.string({
    description: 'PEM file of a certificate authority to trust for receivers.',
    multiple: true,
  }),
  insecure: Flags.boolean({ description: 'Accept any certificate of a receiver.' }),
  'deny-private': Flags.boolean({
    description:
      'Refuse endpoints on loopback and private addresses (default: with --store and a --host that is not loopback).',
  }),
  'allowed-host': Flags.string({ description: 'Also answer requests for this host name.', multiple: true }),
  'public-url': publicUrlFlag({
    description: 'URL of the service for others, such as that of a proxy: links and QR codes begin with it.',
  }),
  'keep-events': Flags.integer({
    description: 'Number of events to keep, at least 1, with their deliveries; pending ones always stay.',
    ...wholeNumbers.keepEvents,
  }),
  'disable-after': Flags.integer({
    description: 'Failed deliveries in a row that disable an endpoint; 0 means never.',
    ...wholeNumbers.disableAfter,
  }),
  seed: Flags.integer({
    description: 'Seed for a reproducible run, 0 or more; freezes the clock and needs --in-memory.',
    ...wholeNumbers.seed,
  }),
  'rate-limit': rateLimitFlag({
    description: 'Rate limit of each key on /v1, such as 10/s, 600/m or 5000/h (default: none).',
  }),
  clock: clockFlag({
    description: 'Start time of the service clock, ISO 8601, from 1970 to 9998 (default: now).',
  }),
  'sign-time': Flags.custom<SignTime>({
    description: 'Time in signatures: real, or virtual for that of the service clock.',
    options: [...signTimes],
    default: 'real',
  })(),
  log: Flags.custom<LogFormat>({
    description: 'Messages on stderr: text, or json for one line per request, notice and error.',
    options: [...logFormats],
    default: 'text',
  })(),
  trace: Flags.boolean({ description: 'Pass the traceparent of a request on to its deliveries.' }),
  dotenv: serviceDotenvFlag,
  open: Flags.boolean({ description: 'Open the inspector in the browser.' }),
})

/** Values of {@link startFlags}. */
export type StartFlags = Interfaces.InferredFlags<typeof startFlags>

/** Flags that mean something with `--store` alone. */
const ofStore = ['sandbox', 'store-key'] as const

/** @throws CommandError (usage) for flags that exclude each other, or that need `--store`. */
export function requireOneStore(
  flags: Pick<StartFlags, 'store' | (typeof ofStore)[number] | 'in-memory' | 'seed' | 'clock'>,
): void {
  if (flags.store === undefined) {
    const alone = ofStore.find((name) => flags[name] !== undefined)
    if (alone !== undefined) throw usageError(`--${alone} needs --store. Pass --store, or omit --${alone}.`)
    return
  }
  if (flags['in-memory']) throw usageError('Pass --store or --in-memory, not both.')
  if (flags.seed !== undefined)
    throw usageError('Pass --store or --seed, not both. A seeded run keeps its data in memory.')
  if (flags.clock !== undefined)
    throw usageError(
      'Pass --store or --clock, not both. All instances share one clock; `tabwire clock advance` moves it.',
    )
}

/** @throws CommandError (usage) for a seed with stored data. */
export function requireRepeatable(flags: { seed?: number | undefined; 'in-memory': boolean }): void {
  if (flags.seed === undefined || flags['in-memory']) return
  throw usageError('--seed needs --in-memory. With stored data, the next start would repeat identifiers.')
}

type Level = 'info' | 'warn' | 'error'

/** The log of `--log json`: one JSON object per line. No line has a secret. */
export function createJsonLog(write: (line: object) => void) {
  const instance = `${hostname()}:${process.pid}`
  const tell = (level: Level, msg: string, fields: object = {}) =>
    write({ time: new Date().toISOString(), level, msg, ...fields, instance })
  const onRequest = ({ requestId, method, path, status, durationMs }: AnsweredRequest) => {
    if (PROBES.has(path) && status < 400) return
    const level = status >= 500 ? 'error' : 'info'
    tell(level, 'request', { request_id: requestId, method, path, status, duration_ms: durationMs })
  }
  const callbacks: Pick<SimulatorOptions, 'onRequest' | 'onNotice' | 'onError'> = {
    onRequest,
    onNotice: (notice) => tell('info', notice),
    onError: (error, requestId) =>
      tell('error', error instanceof Error ? error.message : String(error), {
        ...(requestId !== undefined && { request_id: requestId }),
        stack: error instanceof Error ? error.stack : undefined,
      }),
  }
  return { tell, callbacks }
}
