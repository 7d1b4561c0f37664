import type { AttemptResult } from '../../model/delivery.ts'
import { createConnector } from './connector.ts'
import { createConnections, type Connections } from './connections.ts'
import { AddressRefused, type DestinationPolicy } from '../destination/policy.ts'
import { httpExchange, type HttpResponse, type ExchangeSettings, type HttpRequest } from './http-exchange.ts'
import { receiveInProcess, ReceiverThrew, type InProcessReceivers } from './in-process.ts'
import { memoize } from '../memoize.ts'
import { createBodyLimit } from './response-body.ts'
import { explainFailure, explainStatus } from './failure.ts'
import { createTrustContext, requireCertificates, type TlsTrust } from './tls-trust.ts'
import { timers } from '../../timers.ts'

/** One HTTP request of a delivery, ready to go. */
export interface Message {
  url: string
  headers: Readonly<Record<string, string>>
  /** Sent as its UTF-8 bytes. */
  body: string
}

export type SendResult = Omit<AttemptResult, 'started_at'>

export interface Sender {
  /** Sends once and says what came of it. Rejects only when `signal` takes it back. */
  send(message: Message, sending?: SendOptions): Promise<SendResult>
  /** Ends all connections, also those in use. */
  close(): Promise<void>
}

export interface SendOptions {
  /** Takes the attempt back. */
  signal?: AbortSignal | undefined
  /** Called when the headers of the answer are there, and its body is read. */
  onHeaders?: (() => void) | undefined
  /** Called with what a receiver in this process threw. */
  onThrown?: ((error: unknown) => void) | undefined
}

export interface SenderSettings {
  policy: Pick<DestinationPolicy, 'inspect' | 'lookup' | 'refuseNetwork'>
  trust: TlsTrust
  /** From starting to connect until the response's headers are there (specification section 8). */
  timeoutMs?: number
  /** How long to wait for the part of a body that is kept. */
  bodyTimeoutMs?: number
  /** Milliseconds from any start on, by which an attempt's duration is measured; by default the machine's own. */
  measure?: (() => number) | undefined
  /** What is received in this process goes over no network. */
  receivers?: Pick<InProcessReceivers, 'find'>
}

/**
 * How long an idle connection is kept for the next delivery of a burst: shorter than most receivers' own limit (Node's
 * is 5 s), so that a request seldom goes out on a connection that is being closed, and has to go out again.
 */
const KEEP_ALIVE_MS = 1_000

/** As many bodies of one receiver are read at a time. With the attempts in flight, fewer than the pump looks ahead. */
const BODIES_PER_ORIGIN = 16

/** @throws Error when what is to be trusted is no certificate. */
export function createSender(settings: SenderSettings): Sender {
  const { policy, trust, timeoutMs = 10_000, bodyTimeoutMs = 1_000, measure = realTime, receivers } = settings
  requireCertificates(trust.ca)
  const connector = createConnector({
    policy,
    secureContext: createTrustContext(trust),
    insecure: trust.insecure,
    timeoutMs,
  })
  // Loaded with the first delivery: it takes as long as half of the rest of the service.
  let loading: Promise<Connections> | undefined
  const { connect } = connector
  const open = () => (loading ??= createConnections({ connect, keepAliveMs: KEEP_ALIVE_MS }))
  const limitBodies = createBodyLimit(BODIES_PER_ORIGIN)
  const transportFor = async (url: string): Promise<Transport> => {
    const receive = receivers?.find(url)
    if (receive !== undefined)
      return (message, limits, signal) => receiveInProcess(receive, message, limits, signal)
    const beyond = policy.refuseNetwork(url)
    if (beyond !== undefined) return async () => Promise.reject(new AddressRefused(beyond))
    const connections = await open()
    return (message, limits, signal) => httpExchange(connections, requestOf(message), limits, signal)
  }
  return {
    async send(message, { signal, onHeaders, onThrown } = {}) {
      const transport = await transportFor(message.url)
      signal?.throwIfAborted()
      const started = measure()
      const elapsed = () => Math.round(measure() - started)
      try {
        const refused = policy.inspect(message.url)
        if (refused !== undefined) throw new AddressRefused(refused)
        const limits = {
          timeoutMs,
          bodyTimeoutMs,
          measure,
          onHeaders(cut: () => void) {
            onHeaders?.()
            return limitBodies(targetOf(message.url).origin, cut)
          },
        }
        const response = await transport(message, limits, signal)
        const duration_ms = Math.round(response.respondedAt - started)
        const { outcome, error } = outcomeOf(response)
        return {
          duration_ms,
          outcome,
          error,
          response_status: response.status,
          response_body: response.body,
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ReceiverThrew && error.cause !== undefined) onThrown?.(error.cause)
        const failure = explainFailure(error, hostOf(message.url), timeoutMs)
        return { duration_ms: elapsed(), ...failure, response_status: null, response_body: null }
      }
    },
    async close() {
      await (await loading)?.close()
      connector.destroy()
    },
  }
}

const targetOf = memoize((text) => {
  const url = new URL(text)
  return { origin: url.origin, path: url.pathname + url.search }
})

/** How a message comes to its receiver, and what is answered. */
type Transport = (message: Message, limits: ExchangeSettings, signal?: AbortSignal) => Promise<HttpResponse>

function requestOf({ url, headers, body }: Message): HttpRequest {
  const { origin, path } = targetOf(url)
  return { origin, path, headers, body }
}

function realTime(): number {
  return timers.elapsed()
}

function outcomeOf({ status, location }: HttpResponse): Pick<SendResult, 'outcome' | 'error'> {
  if (status >= 200 && status < 300) return { outcome: 'succeeded', error: null }
  return explainStatus(status, location)
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
