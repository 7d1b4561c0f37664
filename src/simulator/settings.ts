import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import {
  MOST_TIMER_MS,
  must,
  readApiKey,
  readHost,
  readOrderBy,
  readPublicUrl,
  readSandbox,
  readStoreUrl,
  readStoreKey,
  readRateLimit,
  readServiceName,
  readSignTime,
  readSwitch,
  readText,
  readTexts,
  readTime,
  texts,
  unknownOptions,
  wholeNumber,
  wholeNumbers,
  type RateLimit,
  type Reader,
} from '../model/simulator/settings.ts'
import { isOpenToOthers } from '../model/url.ts'
import type { AnsweredRequest } from '../model/simulator/request-entry.ts'
import {
  defaultDeliveryTimes,
  leaseOutlastsAttempt,
  longestAttempt,
  type DeliveryTimes,
  type SimulatorOptions,
} from '../simulator-options.ts'

/** Options with other names or forms in {@link Settings}. */
type Converted =
  | 'dataDir'
  | 'dataDirectory'
  | 'store'
  | 'cacert'
  | 'ca'
  | 'allowedHost'
  | 'allowedHosts'
  | 'allowHttpHost'
  | 'rateLimit'
  | 'deliveryTimes'
  | 'clock'
  | 'startAt'
  | keyof Callbacks

/** Values of options that are not given. */
export const defaults = {
  host: texts.host,
  serviceName: texts.serviceName,
  orderBy: texts.orderBy,
  strict: false,
  disableAfter: wholeNumbers.disableAfter.default,
  keepEvents: wholeNumbers.keepEvents.default,
  signTime: 'real',
  deliveryTimes: defaultDeliveryTimes,
} as const satisfies DefaultedValues & Pick<Settings, 'deliveryTimes'>
type Defaulted = 'host' | 'serviceName' | 'orderBy' | 'strict' | 'disableAfter' | 'keepEvents' | 'signTime'

/** Options with a default are always set. */
type DefaultedValues = { [Name in Defaulted]: NonNullable<SimulatorOptions[Name]> }

/** Callbacks of the program. None of them throws. */
interface Callbacks {
  onRequest: ((request: AnsweredRequest) => void) | undefined
  onReplace: (() => Promise<void>) | undefined
  onNotice: (notice: string) => void
  onError: (error: unknown, requestId?: string) => void
}

/** Checked options of a simulator, each under one name and in one form. */
export interface Settings extends Omit<SimulatorOptions, Converted | Defaulted>, Callbacks, DefaultedValues {
  dataDirectory?: string | undefined
  /** URL of the PostgreSQL database. */
  storeUrl?: string | undefined
  /** PEM texts. */
  ca?: readonly string[] | undefined
  allowedHosts?: readonly string[] | undefined
  allowHttpHosts?: readonly string[] | undefined
  rateLimit?: RateLimit | undefined
  /** Start of the service's own clock. */
  startAt?: Date | undefined
  deliveryTimes: DeliveryTimes
  /** Replaces the service's own clock. */
  clock?: Clock | undefined
}

const readPort: Reader<number | false> = (given) => {
  if (given === false) return { value: false }
  const { value } = wholeNumber(wholeNumbers.port)(given)
  return value === undefined ? must('a whole number from 0 to 65535, or false', given) : { value }
}

const readNetwork: Reader<string> = (given) =>
  given === 'loopback' || given === 'any' ? { value: given } : must("'loopback' or 'any'", given)

const readClock: Reader<Clock | Date> = (given) => (isClock(given) ? { value: given } : readTime(given))

function isClock(given: unknown): given is Clock {
  const { now, at } = (given ?? {}) as Partial<Record<keyof Clock, unknown>>
  return typeof now === 'function' && typeof at === 'function'
}

const readCallback: Reader<unknown> = (given) =>
  typeof given === 'function' ? { value: given } : must('a function', given)

/** Reads an object of whole numbers of at least 1, each with one of these names. Leaves out undefined ones. */
function readNumbers<Name extends string>(names: readonly Name[]): Reader<Partial<Record<Name, number>>> {
  const readNumber = wholeNumber({ min: 1, max: MOST_TIMER_MS })
  return (given) => {
    if (typeof given !== 'object' || given === null) return must('an object', given)
    const entries = Object.entries(given).filter(([, value]) => value !== undefined)
    if (unknownOptions(given, names).length > 0)
      return must(`an object with any of ${names.join(', ')}, and no other`, given)
    const [wrong] = entries.filter(([, value]) => readNumber(value).issue !== undefined)
    return wrong === undefined
      ? { value: Object.fromEntries(entries) as Partial<Record<Name, number>> }
      : must(
          `an object whose ${wrong[0]} is a whole number from 1 to ${MOST_TIMER_MS.toLocaleString('en')}`,
          wrong[1],
        )
  }
}

const readLimits = readNumbers(['firstRequestMs', 'headersMs', 'requestMs', 'connections'])

const readDeliveryTimes: Reader<DeliveryTimes> = (given) => {
  const { value, issue } = readNumbers(['timeoutMs', 'bodyTimeoutMs', 'leaseMs', 'renewMs', 'pollMs'])(given)
  if (issue !== undefined) return { issue }
  const times: DeliveryTimes = { ...defaultDeliveryTimes, ...value }
  const longest = Math.ceil(longestAttempt(times))
  return leaseOutlastsAttempt(times)
    ? { value: times }
    : must(`times with a lease that outlasts an attempt: leaseMs - renewMs - 2 * pollMs > ${longest}`, given)
}

/** Reader of each option. */
const readers: Readonly<Record<keyof SimulatorOptions, Reader<unknown>>> = {
  dataDir: readText,
  store: readStoreUrl,
  sandbox: readSandbox,
  storeKey: readStoreKey,
  dataDirectory: readText,
  authorityDirectory: readText,
  host: readHost,
  port: readPort,
  network: readNetwork,
  ref: readSwitch,
  https: readSwitch,
  apiKey: readApiKey,
  serviceName: readServiceName,
  strict: readSwitch,
  orderBy: readOrderBy,
  allowHttpLoopback: readSwitch,
  allowHttpHost: readTexts,
  denyPrivate: readSwitch,
  cacert: readTexts,
  ca: readTexts,
  insecure: readSwitch,
  allowedHost: readTexts,
  allowedHosts: readTexts,
  publicUrl: readPublicUrl,
  disableAfter: wholeNumber(wholeNumbers.disableAfter),
  bodyLimit: wholeNumber(wholeNumbers.bodyLimit),
  rateLimit: readRateLimit,
  keepEvents: wholeNumber(wholeNumbers.keepEvents),
  connectionLimits: readLimits,
  deliveryTimes: readDeliveryTimes,
  clock: readClock,
  startAt: readTime,
  seed: wholeNumber(wholeNumbers.seed),
  signTime: readSignTime,
  onRequest: readCallback,
  onReplace: readCallback,
  trace: readSwitch,
  onNotice: readCallback,
  onError: readCallback,
}

const optionNames = Object.keys(readers) as (keyof SimulatorOptions)[]

/** Pairs of a current option name and its earlier name. */
const aliases = [
  ['dataDir', 'dataDirectory'],
  ['cacert', 'ca'],
  ['allowedHost', 'allowedHosts'],
  ['clock', 'startAt'],
] as const

/**
 * Checks the options of a simulator and normalises their names and forms.
 * @throws TypeError with a line for each option that is unknown, invalid, given twice, or excluded by another.
 */
export async function readSettings(options: SimulatorOptions): Promise<Settings> {
  const read: Partial<Record<keyof SimulatorOptions, unknown>> = {}
  const issues = unknownOptions(options, optionNames)
  for (const name of optionNames) {
    if (options[name] === undefined) continue
    const { value, issue } = readers[name](options[name])
    if (issue !== undefined) issues.push(`${name} ${issue}.`)
    read[name] = value
  }
  for (const [name, earlier] of aliases)
    if (read[name] !== undefined && read[earlier] !== undefined)
      issues.push(`${name} and ${earlier} are the same option. Omit ${earlier}.`)
  issues.push(...contradictions(options))
  if (issues.length > 0) throw new TypeError(issues.join('\n'))
  return settingsOf(read)
}

function contradictions({
  seed,
  store,
  sandbox,
  storeKey,
  dataDir,
  dataDirectory = dataDir,
  https,
  ref,
  port,
}: SimulatorOptions): string[] {
  const issues: string[] = []
  if (seed !== undefined && dataDirectory !== undefined)
    issues.push(
      'seed cannot be combined with dataDir. With stored data, a seeded run would repeat identifiers.',
    )
  if (seed !== undefined && store !== undefined)
    issues.push(
      'seed cannot be combined with store. With stored data, a seeded run would repeat identifiers.',
    )
  if (store !== undefined && dataDirectory !== undefined)
    issues.push('store cannot be combined with dataDir. Pass authorityDirectory for the local authority.')
  if (sandbox !== undefined && store === undefined) issues.push('sandbox needs store.')
  if (storeKey !== undefined && store === undefined) issues.push('storeKey needs store.')
  if (https === true && port === false) issues.push('https needs a port, got port: false.')
  if (ref === true && port === false) issues.push('ref needs a port, got port: false.')
  return issues
}

/** Converts values to settings. The readers above have checked their types. */
async function settingsOf(read: Partial<Record<keyof SimulatorOptions, unknown>>): Promise<Settings> {
  const {
    dataDir,
    dataDirectory = dataDir,
    store,
    cacert,
    ca,
    allowedHost,
    allowedHosts = allowedHost,
    allowHttpHost,
    ...rest
  } = read
  const { clock, startAt = clock, ...same } = rest
  const authorities = (ca ?? cacert) as readonly string[] | undefined
  return {
    ...defaults,
    ...(same as Omit<SimulatorOptions, Converted | Defaulted> &
      Pick<Settings, 'rateLimit'> &
      Partial<typeof defaults>),
    ...callbacksOf(read as Pick<SimulatorOptions, keyof Callbacks>),
    dataDirectory: dataDirectory as string | undefined,
    storeUrl: store as string | undefined,
    denyPrivate: (read.denyPrivate as boolean | undefined) ?? isOpenToOthers(read.store, read.host),
    allowedHosts: allowedHosts as readonly string[] | undefined,
    allowHttpHosts: allowHttpHost as readonly string[] | undefined,
    ca:
      authorities &&
      (await Promise.all(authorities.map((given) => pemOf(given, ca === undefined ? 'cacert' : 'ca')))),
    ...(isClock(clock) ? { clock } : { startAt: startAt as Date | undefined }),
  }
}

/** Prints an error as a warning of the process. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

/**
 * Returns the callbacks of the program. An error that one of them throws, or with which its promise rejects, goes to
 * `onError`; an error of `onError` becomes a process warning. So they change no response, and stop neither the store nor the
 * deliveries.
 */
export function callbacksOf({
  onRequest,
  onReplace,
  onNotice,
  onError = warn,
}: Pick<SimulatorOptions, keyof Callbacks>): Callbacks {
  const report: Callbacks['onError'] = (error, requestId) => run(() => onError(error, requestId), warn)
  return {
    onRequest:
      onRequest &&
      ((request) =>
        run(
          () => onRequest(request),
          (error) => report(error, request.requestId),
        )),
    onReplace:
      onReplace &&
      (async () => {
        try {
          await onReplace()
        } catch (error) {
          report(error)
        }
      }),
    onNotice: (notice) => run(() => onNotice?.(notice), report),
    onError: report,
  }
}

/** Runs a callback, which may be an async function. Its errors go to `failed`. */
function run(callback: () => unknown, failed: (error: unknown) => void): void {
  try {
    const ended = callback()
    if (ended instanceof Promise) ended.catch(failed)
  } catch (error) {
    failed(error)
  }
}

/**
 * Returns a PEM text as it is; reads any other value as the path of a file.
 * @throws TypeError when the file cannot be read, or the text is not a certificate.
 */
async function pemOf(authority: string, name: 'ca' | 'cacert'): Promise<string> {
  const refusal = (reason: string, cause: unknown) => {
    const { issue } = must('a PEM text or the path of a PEM file', authority)
    return new TypeError(`${name} ${issue} (${reason}).`, { cause })
  }
  const pem = authority.includes('-----BEGIN ')
    ? authority
    : await readFile(authority, 'utf8').catch((cause: unknown) => {
        throw refusal((cause as NodeJS.ErrnoException).code ?? 'unknown error', cause)
      })
  try {
    new X509Certificate(pem)
  } catch (cause) {
    throw refusal('not a certificate', cause)
  }
  return pem
}
