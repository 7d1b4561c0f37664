import { createNewId } from '../../ids.ts'
import { eventTypes, type EventType } from '../../model/event.ts'
import { bareHost, isLoopbackName, portOf } from '../../model/url.ts'
import { trustAdvice } from '../../model/text/advice.ts'
import { makeReport, type CaseResult, type ConformanceReport } from '../report.ts'
import type { ReceiverCase } from './case.ts'
import { createConvergence, type StateCheck, converges } from './convergence/judge.ts'
import { withoutQuery } from './convergence/state-view.ts'
import { readExamples, createForge } from './forge.ts'
import { runReceiverCases } from './run.ts'
import { createDeliverySender, type DeliveryAnswer, type Destination } from './send.ts'
import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { accepts } from './accepts.ts'
import { behaves } from './behaves.ts'
import { control } from './control.ts'
import { refuses } from './refuses.ts'

/** The suite, in the order in which it runs. */
export const receiverCases: readonly ReceiverCase[] = [
  ...control,
  ...accepts,
  ...refuses,
  ...behaves,
  ...converges,
]

/** Returns the control cases and the chosen ones. The verdicts of all cases rest on the control. */
function withControl(cases: readonly ReceiverCase[]): readonly ReceiverCase[] {
  return [...control, ...cases.filter(({ group }) => group !== 'control')]
}

/** Of specification section 8, in milliseconds. */
const ANSWER_MS = 10_000

/** Much more than a receiver on the same machine takes, in milliseconds. */
const SLOW_MS = 300

export interface ReceiverCheck extends Omit<Destination, 'timeoutMs' | 'signal'> {
  secret: string
  /** Seconds. */
  tolerance: number
  serviceName: string
  /** Event types of the receiver's endpoint; all unless given. */
  events?: readonly EventType[] | undefined
  /** The cases asked for. Those of the group `control` run in any case. */
  cases: readonly ReceiverCase[]
  /** How to read the receiver's state, for the cases about convergence. */
  state?: StateCheck | undefined
  /** Time limit of an answer, in milliseconds; 10 s by default. */
  timeoutMs?: number
  /** Time from which an answer counts as slow, in milliseconds; 300 by default. Cases run in parallel then. */
  slowMs?: number
  /** Ends the check early, with a partial report. */
  signal?: AbortSignal
  /** Advice that is not kept fails, too. */
  strict?: boolean
  /** Called as each case begins; for the plain delivery before them, without a case. */
  begin?: (one?: ReceiverCase, index?: number, total?: number) => void
}

/**
 * Checks a receiver with the cases given.
 * @throws Error when nothing can be reached there, or nothing that speaks the URL's scheme.
 */
export async function checkReceiver(check: ReceiverCheck): Promise<ConformanceReport> {
  const started = performance.now()
  const now = () => Date.now()
  const newId = createNewId(() => new Date())
  const {
    timeoutMs = ANSWER_MS,
    slowMs = SLOW_MS,
    signal = new AbortController().signal,
    strict = false,
    events = eventTypes,
    begin = () => undefined,
  } = check
  const forge = createForge({
    ...check,
    events,
    examples: await readExamples(),
    newId: () => newId('evt'),
    now,
  })
  const send = createDeliverySender({ ...check, timeoutMs, signal })
  begin()
  const first = await send(forge.genuineWhere(), { endAtTimeout: true })
  if (!signal.aborted) await requireReachable(check, first)
  const cases = withControl(check.cases)
  const convergence = check.state && createConvergence({ state: check.state, forge, newId, signal })
  let results: readonly CaseResult[]
  try {
    results = await runReceiverCases(
      cases,
      { forge, send, first, rejections: [], convergence },
      { timeoutMs, slowMs, signal, begin: (one, index) => begin(one, index, cases.length) },
    )
  } finally {
    await convergence?.close()
  }
  const duration_ms = Math.round(performance.now() - started)
  const interrupted = signal.aborted
  return makeReport({
    suite: 'receiver check',
    target: withoutQuery(check.url),
    interrupted,
    strict,
    duration_ms,
    cases: results,
  })
}

/** @throws Error with what to do, unless a receiver of this scheme answered, or may yet answer. */
async function requireReachable(
  { url, lookup }: Pick<Destination, 'url' | 'lookup'>,
  first: DeliveryAnswer,
): Promise<void> {
  // Some servers answer 400 to plain HTTP on their TLS port.
  const isSuspect = 'code' in first ? otherwiseSpoken.test(first.code) : first.status === 400
  // The probe for the other scheme does not use `lookup`.
  if (isSuspect && lookup === undefined && (await speaksOtherScheme(url))) throw new Error(otherScheme(url))
  if (!('code' in first) || !unreachable.test(first.code)) return
  if (first.code === 'HPE_CR_EXPECTED')
    throw new Error(
      `Cannot read the response of ${url.origin}: its lines end with LF alone (${first.code}). End each line with CRLF.`,
    )
  throw new Error(`Cannot reach ${url.origin}: ${first.error} (${first.code}). ${advice(first.code)}`)
}

/** Errors of a connection with the wrong scheme. */
const otherwiseSpoken = /^(EPROTO|ECONNRESET|EPIPE|TIMEOUT|HPE_.*|ERR_SSL_.*)$/

const noConnection = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/

const unreachable = new RegExp(
  `${noConnection.source}|^(HPE_.*|EPROTO|ERR_TLS_.*|ERR_SSL_.*|.*CERT.*|.*SIGNATURE.*)$`,
)

function otherScheme({ protocol, hostname, host, pathname, origin }: URL): string {
  if (protocol === 'http:') return `${origin} uses TLS, not plain HTTP. Try https://${host}${pathname}`
  const isHere = isLoopbackName(bareHost({ hostname }))
  const todo = isHere ? `Try http://${host}${pathname}` : 'Enable TLS there, because deliveries use HTTPS.'
  return `${origin} uses plain HTTP, not TLS. ${todo}`
}

function advice(code: string): string {
  const untrusted = 'Pass its certificate authority with --cacert, or pass --insecure.'
  const trust = trustAdvice(code, untrusted)
  if (trust !== undefined) return trust
  if (noConnection.test(code)) return 'Start the receiver, or correct the URL.'
  return 'Correct the URL. A webhook receiver must listen there.'
}

/** Time limit for the other scheme, in milliseconds. */
const WAIT_MS = 2_000

/** Returns true when a server speaks the scheme that the URL does not name: TLS behind `http:`, plain HTTP behind `https:`. */
async function speaksOtherScheme(url: URL): Promise<boolean> {
  const host = bareHost(url)
  const port = portOf(url)
  if (url.protocol === 'http:') return speaksTls(host, port)
  // Many servers answer plain HTTP on their TLS port, with 400.
  return !(await speaksTls(host, port)) && speaksPlainHttp(host, port)
}

/** Ends after the handshake; nothing is sent, so whose certificate it is does not matter. */
function speaksTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const servername = isIP(host) === 0 ? host : ''
    const socket = connectTls({ host, port, servername, rejectUnauthorized: false })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(WAIT_MS, () => end(false))
    socket.once('secureConnect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}

function speaksPlainHttp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlain({ host, port })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(WAIT_MS, () => end(false))
    socket.once('connect', () =>
      socket.write(`OPTIONS / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    )
    socket.once('data', (first: Buffer) => end(first.toString('latin1').startsWith('HTTP/')))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
