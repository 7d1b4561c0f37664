import {
  explainMissing,
  inWords,
  lineWithNext,
  MOST_SHOWN,
  type Wanted,
} from '../assertions/delivered-verdict.ts'
import {
  type DeliveriesWanted,
  NotDelivered,
  TIMEOUT_MS,
  untilNoneDue,
  wantedOf,
} from '../assertions/delivered.ts'
import { deliveriesAbout } from '../assertions/wait.ts'
import { TimedOut, type TimeGiven } from '../client.ts'
import type { Simulator } from '../library.ts'
import type { Delivery } from '../model/delivery.ts'
import { eventTypesAndPing, type EventType } from '../model/event.ts'
import { type FindingCode, findingCodes, type ReportedFinding } from '../model/simulator/report.ts'
import {
  requireKnownOptions,
  requireOneOf,
  requireSetting,
  shown,
  wholeNumber,
} from '../model/simulator/settings.ts'
import { DEFAULT_SERVICE_NAME, parseServiceName, signatureHeader } from '../model/text/service-name.ts'
import { sign, verify } from '../signature/index.ts'
import { isArrayBuffer } from '../signature/options.ts'
import { timers } from '../timers.ts'

/** Result of a matcher: `message` is for a failed test, and `actual` and `expected` are for its diff. */
export interface Outcome {
  pass: boolean
  message: () => string
  actual?: unknown
  expected?: unknown
}

/** Parts of a failure's message. */
interface Found {
  /** The expectation, as a phrase. */
  expected: string
  /** The actual state, as a phrase. */
  got: string
  /** Explanation, such as the delivery in one line. */
  lines?: readonly string[]
  /** Values for a diff. */
  diff?: { actual: unknown; expected: unknown } | undefined
}

/** Returns the outcome of an expectation that is met. Vitest shows `found` when `.not` fails. */
export function passed({ diff: _none, ...found }: Found): Outcome {
  return outcome(true, found)
}

/** Returns the outcome of an expectation that is not met. */
export function failed(found: Found): Outcome {
  return outcome(false, found)
}

function outcome(pass: boolean, { expected, got, lines = [], diff }: Found): Outcome {
  return { pass, message: () => [`Expected: ${expected}`, `Got: ${got}`, ...lines].join('\n'), ...diff }
}

/** @throws TypeError unless the subject of a matcher has these calls, as a simulator has. */
export function requireSimulator(matcher: string, subject: unknown, ...calls: string[]): void {
  const has = (call: string) =>
    typeof subject === 'object' &&
    subject !== null &&
    (subject as Record<string, unknown>)[call] !== undefined
  if (calls.every(has)) return
  throw new TypeError(`${matcher} expects a simulator from createSimulator, got ${kindOf(subject)}.`)
}

/** Describes a wrong subject of a matcher: `a Promise`, `undefined`, `"text"`. */
export function kindOf(subject: unknown): string {
  if (subject instanceof Promise) return 'a Promise; await it first'
  if (typeof subject === 'string') return JSON.stringify(subject.slice(0, 60))
  if (typeof subject !== 'object' || subject === null)
    return typeof subject === 'function' ? 'a function' : String(subject)
  const name = (Object.getPrototypeOf(subject) as object | null)?.constructor.name ?? 'Object'
  const keys = Object.keys(subject).slice(0, 5)
  return name === 'Object'
    ? `an object with ${keys.length === 0 ? 'no fields' : keys.join(', ')}`
    : `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}

/** A delivery as a server has received it: a `Request` whose body was not read, or its headers and raw body. */
export type ReceivedDelivery =
  | Request
  | {
      headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      body: string | Uint8Array | ArrayBuffer
    }

/** How a signature is verified. */
export interface SignedOptions {
  /**
   * Names the header, `X-<name>-Signature`.
   * @default the only header of this form
   */
  serviceName?: string | undefined
  /**
   * Seconds that the time of the signature may be from now.
   * @default 300
   */
  tolerance?: number | undefined
}

/** Returns the name of the only signature header; that of the default service name when there is none, or several. */
function headerIn(headers: ReceivedDelivery['headers']): string {
  const names = headers instanceof Headers ? [...headers.keys()] : Object.keys(headers)
  const [name, ...others] = names.filter((one) => /^x-.+-signature$/i.test(one))
  return name === undefined || others.length > 0 ? headerOf(DEFAULT_SERVICE_NAME) : name
}

/** Returns the value of a header; names match in any case. */
function valueOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1]
}

function headerOf(serviceName: string): string {
  return signatureHeader(parseServiceName(serviceName) ?? serviceName).toLowerCase()
}

export async function toBeSignedBy(
  received: ReceivedDelivery,
  secret: string,
  options: SignedOptions = {},
): Promise<Outcome> {
  requireReceived(received)
  requireKnownOptions(options, ['serviceName', 'tolerance'])
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError(`toBeSignedBy expects the signing secret of an endpoint, got ${kindOf(secret)}.`)
  const { serviceName, tolerance } = options
  const { headers } = received
  const name = serviceName === undefined ? headerIn(headers) : headerOf(serviceName)
  const given = headers instanceof Headers ? headers.get(name) : valueOf(headers, name)
  const header = typeof given === 'string' || given === null ? given : given?.join(', ')
  const payload = received instanceof Request ? await received.clone().arrayBuffer() : received.body
  const result = verify({ payload, header, secret, tolerance })
  const lines = [`  ${name}: ${header ?? '(no such header)'}`]
  if (result.ok) return passed({ expected: 'no signature with this secret', got: 'a valid one', lines })
  const timestamp = Number(/^t=(\d{1,12}),/.exec(header ?? '')?.[1] ?? NaN)
  const isComparable = result.code === 'signature_mismatch' && !Number.isNaN(timestamp)
  return failed({
    expected: 'a current signature of this body with this secret',
    got: `${result.code}: ${result.message}`,
    lines,
    diff: isComparable ? { actual: header, expected: sign({ payload, secret, timestamp }) } : undefined,
  })
}

/** @throws TypeError unless it is a request whose body can be read, or has headers and a raw body. */
function requireReceived(received: unknown): void {
  const wanted = 'toBeSignedBy expects a Request, or { headers, body } with the raw body as text or bytes'
  if (received instanceof Request) {
    if (!received.bodyUsed) return
    throw new TypeError(
      `${wanted}, got a Request whose body has been read. Pass request.clone() before reading it.`,
    )
  }
  const { headers, body } = (received ?? {}) as { headers?: unknown; body?: unknown }
  const hasBody = typeof body === 'string' || ArrayBuffer.isView(body) || isArrayBuffer(body)
  if (typeof headers === 'object' && headers !== null && hasBody) return
  const isParsed = typeof body === 'object' && body !== null
  throw new TypeError(`${wanted}, got ${isParsed ? `${kindOf(body)} as body` : kindOf(received)}.`)
}

/** Selects findings. */
export interface FindingsOptions {
  /**
   * Findings that are no mistake here.
   * @default []
   */
  except?: readonly FindingCode[] | undefined
  /**
   * Only findings of requests that began then or later.
   * @default undefined, from the start of the service on
   */
  since?: TimeGiven | undefined
}

/** Passes when the report has no findings, or only those of `except`. */
export async function toHaveNoFindings(
  simulator: Pick<Simulator, 'report'>,
  options: FindingsOptions = {},
): Promise<Outcome> {
  requireSimulator('toHaveNoFindings', simulator, 'report')
  requireKnownOptions(options, ['except', 'since'])
  const { except = [], since } = options
  if (!Array.isArray(except)) throw new TypeError(`except must be a list of findings, got ${shown(except)}.`)
  for (const code of except) requireOneOf('finding', code, findingCodes)
  const { findings } = await simulator.report(since)
  const found = findings.filter(({ code }) => !except.includes(code))
  const got = found.map(({ code, count }) => `${code} (${count})`)
  return found.length === 0
    ? passed({ expected: 'findings in the pushes', got: 'none' })
    : failed({
        expected: 'no findings in the pushes',
        got: got.join(', '),
        lines: found.flatMap(linesOf),
        diff: { actual: got, expected: [] },
      })
}

function linesOf({ code, requests }: ReportedFinding): string[] {
  return requests.map(({ method, path, message }) => `  ${code}: ${method} ${path}: ${message}`)
}

/** Selects the delivery, beside its type. */
export interface DeliveredOptions extends Omit<DeliveriesWanted, 'type' | 'count'> {
  /**
   * Exact number of deliveries, once nothing is on its way.
   * @default undefined, one or more
   */
  times?: number | undefined
}

/** Milliseconds that are left at least to see whether an attempt is in flight. */
const LEAST_MS = 500

/**
 * With `.not`, and with `times` once as many have come, the matcher waits only until no attempt is due or in flight.
 */
export async function toHaveDelivered(
  this: { isNot?: boolean },
  simulator: Simulator,
  type: EventType | 'ping',
  given: DeliveredOptions = {},
): Promise<Outcome> {
  requireSimulator('toHaveDelivered', simulator, 'deliveries', 'stream')
  requireOneOf('event type', type, eventTypesAndPing)
  requireKnownOptions(given, ['check', 'endpoint', 'status', 'times', 'timeout', 'signal'])
  const { times, ...options } = given
  requireSetting('times', wholeNumber({ min: 0 }), times)
  const wanted = { ...wantedOf({ ...options, type }), count: times ?? 1, exactly: times !== undefined }
  const { timeout = TIMEOUT_MS, signal } = options
  let left = timeout
  if (this.isNot !== true && wanted.count > 0)
    try {
      const started = timers.elapsed()
      const came = await simulator.deliveries.waitFor({ ...options, type, count: wanted.count })
      left = Math.max(LEAST_MS, left - (timers.elapsed() - started))
      if (times === undefined) return delivered(wanted, came)
    } catch (error) {
      if (!(error instanceof NotDelivered)) throw error
      const came = error.seen.filter(({ status }) => status === wanted.status)
      const instead = error.seen.length > 0 ? [] : await explainMissing(simulator, wanted)
      const found = foundOf(wanted, came, error.seen, instead)
      return failed({ ...found, lines: [...found.lines, ...causeOf(error)] })
    }
  const late = timeout === 0 ? [] : await untilNoneDue(simulator, wanted, { timeout: left, signal })
  if (late.length > 0) {
    const meant = this.isNot === true ? expectedNot(wanted) : inWords(wanted)
    const ids = late.map(({ id }) => id).join(', ')
    throw new TimedOut(`Expected: ${meant}\nGot: ${ids}, still in flight after ${timeout / 1_000} s`)
  }
  const seen = (await deliveriesAbout(simulator, wanted)).reverse()
  const came = seen.filter(({ status }) => status === wanted.status)
  const isMet = times === undefined ? came.length > 0 : came.length === times
  return isMet ? delivered(wanted, came) : failed(foundOf(wanted, came, seen))
}

/** Formats a handler's error with its stack: an outcome has no field for a cause. */
function causeOf({ cause }: NotDelivered): string[] {
  return cause instanceof Error ? [`Caused by: ${cause.stack ?? cause.message}`] : []
}

/** Returns the outcome when the wanted deliveries have come; with `.not`, Vitest fails it. */
function delivered(wanted: Wanted, came: readonly Delivery[]): Outcome {
  return passed({ ...foundOf(wanted, came, []), expected: expectedNot(wanted) })
}

/** Returns the expectation of `.not`, as a phrase. */
function expectedNot(wanted: Wanted): string {
  return wanted.exactly ? `not ${inWords(wanted)}` : inWords({ ...wanted, none: true })
}

/** Formats the expectation, the result, and one line per delivery; without deliveries, what came instead. */
function foundOf(
  wanted: Wanted,
  came: readonly Delivery[],
  seen: readonly Delivery[],
  instead: readonly string[] = [],
) {
  const shown = (seen.length > 0 ? seen : came).slice(0, MOST_SHOWN)
  const got = came.length === 0 && shown.length === 0 ? 'none' : countOf(came, seen, wanted)
  const expected = Array.from({ length: wanted.count }, () => briefOf(wanted))
  const actual = (seen.length > 0 ? seen : came).map(({ event_type, status }) =>
    briefOf({ type: event_type, check: wanted.check, status }),
  )
  const lines = shown.length > 0 ? shown.map(lineWithNext) : instead
  return { expected: inWords(wanted), got, lines, diff: { actual, expected } }
}

function countOf(came: readonly Delivery[], seen: readonly Delivery[], { status }: Wanted): string {
  const others = seen.filter((delivery) => delivery.status !== status).map((delivery) => delivery.status)
  const rest = others.length === 0 ? '' : `, and ${others.length} ${[...new Set(others)].join(' or ')}`
  return `${came.length} ${status}${rest}`
}

/** Fields of a delivery in a diff. */
function briefOf({ type, check, status }: Pick<Wanted, 'type' | 'check' | 'status'>): string {
  return `${status} ${type ?? 'event'}${check === undefined ? '' : ` for check ${check}`}`
}
