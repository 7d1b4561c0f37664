import { apiKeyPattern } from '../api-key.ts'
import { didYouMean, shortened } from '../text/advice.ts'
import { localTimeIssue, parseTime } from '../text/time.ts'
import { ORDER_BY, orderFieldIssue } from '../revision.ts'
import { DEFAULT_SERVICE_NAME, parseServiceName } from '../text/service-name.ts'

/**
 * A parsed setting, or an issue: the rest of a sentence that begins with its name, `must be …, got …`. The flags of
 * `start`, the settings file and the options of the library use the same functions.
 */
export type Reading<T> = { value: T; issue?: undefined } | { issue: string; value?: undefined }

export type Reader<T> = (given: unknown) => Reading<T>

/** Number of requests per key, 1 or more, within a number of seconds of real time. */
export interface RateLimit {
  requests: number
  seconds: number
}

/** Bounds and defaults of whole-number settings. */
export const wholeNumbers = {
  port: { min: 0, max: 65_535, default: 4100 },
  keepEvents: { min: 1, default: 10_000 },
  disableAfter: { min: 0, default: 10 },
  seed: { min: 0 },
  bodyLimit: { min: 1, default: 1024 * 1024 },
} satisfies Record<string, { min: number; max?: number; default?: number }>

/** Defaults of text settings. */
export const texts = {
  host: '127.0.0.1',
  serviceName: DEFAULT_SERVICE_NAME,
  orderBy: ORDER_BY,
  sandbox: 'tabwire',
} as const

/** Clock for the timestamps of signatures. */
export const signTimes = ['real', 'virtual'] as const
export type SignTime = (typeof signTimes)[number]

/** Reads a whole number within bounds. */
export function wholeNumber({ min, max }: { min: number; max?: number }): Reader<number> {
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return (given) =>
    Number.isSafeInteger(given) && Number(given) >= min && Number(given) <= (max ?? Infinity)
      ? { value: Number(given) }
      : must(`a whole number ${bounds}`, given)
}

export const readSwitch: Reader<boolean> = (given) =>
  typeof given === 'boolean' ? { value: given } : must('true or false', given)

/** A PostgreSQL URL. Messages do not repeat it, because it may have a password. */
export const readStoreUrl: Reader<string> = (given) => {
  const protocol = typeof given === 'string' && URL.canParse(given) ? new URL(given).protocol : ''
  return typeof given === 'string' && ['postgres:', 'postgresql:'].includes(protocol)
    ? { value: given }
    : { issue: 'must be a PostgreSQL URL such as postgres://user@host/database' }
}

/** Key that encrypts secrets in the database. Messages do not repeat it. */
export const readStoreKey: Reader<string> = (given) =>
  typeof given === 'string' && /^[\w+/-]{43}=?$/.test(given)
    ? { value: given }
    : { issue: 'must be 32 bytes in base64, such as the output of `openssl rand -base64 32`' }

/** Name of a sandbox; it is the name of a schema of the database. */
export const readSandbox: Reader<string> = (given) => {
  if (typeof given !== 'string' || !/^[a-z][a-z0-9_]{0,62}$/.test(given))
    return must('1 to 63 lower-case letters, digits and underscores, beginning with a letter', given)
  return given.startsWith('pg_') || given === 'information_schema'
    ? must('another name: PostgreSQL reserves information_schema, and names that begin with pg_', given)
    : { value: given }
}

/** Limits for slow clients and for connections. */
export interface ConnectionLimits {
  /** Milliseconds after which a connection is closed on which nothing arrived. */
  firstRequestMs: number
  /** Milliseconds for the headers of a request. */
  headersMs: number
  /** Milliseconds for a whole request. */
  requestMs: number
  /** Limit of open connections. A further one replaces an idle one, or is closed when there is none. */
  connections: number
}

/** An origin, without a path: pages have absolute paths. */
export const readPublicUrl: Reader<string> = (given) => {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  return isOrigin
    ? { value: url.origin }
    : must('a URL without a path, such as https://sandbox.example.com', given)
}

export const readText: Reader<string> = (given) =>
  typeof given === 'string' && given !== '' ? { value: given } : must('a text of at least 1 character', given)

/** Reads one text, or a list of texts. */
export const readTexts: Reader<readonly string[]> = (given) => {
  const list: unknown[] = Array.isArray(given) ? given : [given]
  return list.every((text): text is string => typeof text === 'string' && text !== '')
    ? { value: list }
    : must('a text or a list of texts, each of at least 1 character', given)
}

/** Reads an address to listen on. An empty one is refused, because Node would listen on every address. */
export const readHost: Reader<string> = (given) =>
  typeof given === 'string' && given !== '' ? { value: given } : must('an address such as 127.0.0.1', given)

/** Reads an API key. The issue does not repeat it, because it may be a mistyped key. */
export const readApiKey: Reader<string> = (given) =>
  typeof given === 'string' && apiKeyPattern.test(given)
    ? { value: given }
    : { issue: 'must be 1 to 512 visible ASCII characters without spaces' }

/** Reads the name of a service, or the name of its signature header. */
export const readServiceName: Reader<string> = (given) => {
  const value = typeof given === 'string' ? parseServiceName(given) : undefined
  return value === undefined
    ? must('1 to 64 letters, digits and hyphens, without a hyphen at either end', given)
    : { value }
}

/** Reads the field of a push that orders pushes. */
export const readOrderBy: Reader<string> = (given) => {
  const field = 'the name of a field that orders pushes, such as updated_at'
  if (typeof given !== 'string') return must(field, given)
  const issue = orderFieldIssue(given)
  return issue === undefined ? { value: given } : { issue: `${must(field, given).issue}: ${issue}` }
}

export const readSignTime: Reader<SignTime> = (given) => {
  const value = signTimes.find((time) => time === given)
  return value === undefined
    ? must(signTimes.map((time) => JSON.stringify(time)).join(' or '), given)
    : { value }
}

const secondsOf = { s: 1, m: 60, h: 3600 } as const

/** Reads a rate: `10` and `10/s`, `600/m`, `5000/h`, a number of requests per second, or `{requests, seconds}`. */
export const readRateLimit: Reader<RateLimit> = (given) => {
  if (typeof given === 'object' && given !== null) {
    const { requests, seconds } = given as Partial<Record<keyof RateLimit, unknown>>
    if (isPositive(requests) && isPositive(seconds))
      return seconds * 1000 <= MOST_TIMER_MS
        ? { value: { requests, seconds } }
        : must('a rate over at most 24 days', given)
  }
  const text = typeof given === 'number' ? String(given) : given
  const [, number, unit = 's'] = typeof text === 'string' ? (RATE.exec(text) ?? []) : []
  if (number === undefined) return must('a rate of at least 1 request, such as 10/s, 600/m or 5000/h', given)
  return { value: { requests: Number(number), seconds: secondsOf[unit as keyof typeof secondsOf] } }
}

/** Longest timer of Node.js in milliseconds, 24.8 days. A longer one would end at once. */
export const MOST_TIMER_MS = 2 ** 31 - 1

const RATE = /^([1-9]\d{0,8})(?:\/([smh]))?$/

function isPositive(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) > 0
}

/**
 * Reads a time: an ISO 8601 text, milliseconds since 1970 as a number, or a `Date`. Years are 1970 to 9998, in which
 * identifiers and texts sort by time.
 */
export const readTime: Reader<Date> = (given) => {
  const isNumber = typeof given === 'number' || given instanceof Date
  const time = isNumber ? new Date(given) : typeof given === 'string' ? parseTime(given) : undefined
  if (time !== undefined && time.getTime() >= 0 && time.getTime() < END_OF_TIME) return { value: time }
  const issue = typeof given === 'string' ? localTimeIssue(given) : undefined
  if (issue !== undefined) return { issue }
  return must('a time from 1970 to 9998, such as 2026-11-21T18:00:00Z', given)
}

/** End of the valid times: times are compared as text with four-digit years, and retries fall due after them. */
export const END_OF_TIME = Date.UTC(9999, 0, 1)

/** Returns the issue `must be …, got …`. */
export function must(what: string, given: unknown): { issue: string } {
  return { issue: `must be ${what}, got ${shown(given)}` }
}

/** Longest value that an error repeats, in UTF-16 units. */
const LONGEST_SHOWN = 100

/** Returns a value as a message repeats it, shortened. */
export function shown(given: unknown): string {
  if (typeof given === 'function') return 'a function'
  if (given instanceof Date && Number.isNaN(given.getTime())) return 'an invalid Date'
  // NaN, infinities and big integers have no JSON.
  const text = typeof given === 'number' || typeof given === 'bigint' ? String(given) : jsonOf(given)
  return shortened(text, LONGEST_SHOWN)
}

function jsonOf(given: unknown): string {
  try {
    return JSON.stringify(given) ?? typeof given
  } catch {
    return `a ${typeof given}`
  }
}

/** Returns `unknown option "prot", did you mean "port"?` for each unknown name. */
export function unknownOptions(given: object, known: readonly string[]): string[] {
  const names = Object.keys(given).filter((name) => !known.includes(name))
  return names.map(
    (name) =>
      `unknown option ${JSON.stringify(name)}${didYouMean(name, known) || `. Known options: ${known.join(', ')}.`}`,
  )
}

/** @throws TypeError unless it is an object: the keys of a text or a list are its positions. */
export function requireOptions(given: unknown): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  // A test runner passes one: `afterAll(simulator.close)`.
  const meant =
    typeof given === 'function' ? ' Pass `() => simulator.close()` to a test runner, for example.' : ''
  throw new TypeError(`options must be an object, got ${shown(given)}.${meant}`)
}

/**
 * Refuses unknown options, which JavaScript would ignore.
 * @throws TypeError that lists all of them, or unless `given` is an object.
 */
export function requireKnownOptions(given: object, known: readonly string[]): void {
  requireOptions(given)
  const issues = unknownOptions(given, known)
  if (issues.length > 0) throw new TypeError(issues.join('\n'))
}

/** @throws TypeError that names the option, unless its value is valid or `undefined`, which stands for the default. */
export function requireSetting(name: string, read: Reader<unknown>, given: unknown): void {
  const issue = given === undefined ? undefined : read(given).issue
  if (issue !== undefined) throw new TypeError(`${name} ${issue}.`)
}

/** @throws TypeError for an unknown text, with the closest known one. */
export function requireOneOf(noun: string, given: unknown, known: readonly string[]): void {
  if (typeof given === 'string' && known.includes(given)) return
  const meant = typeof given === 'string' ? didYouMean(given, known) : ''
  const found = typeof given === 'string' ? JSON.stringify(given.slice(0, LONGEST_SHOWN)) : shown(given)
  throw new TypeError(`unknown ${noun} ${found}${meant || `. Known: ${known.join(', ')}.`}`)
}
