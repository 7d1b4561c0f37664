import type { AttemptResult } from '../../model/delivery.ts'
import { createConnector } from './connector.ts'
import { createConnections, type Connections } from './connections.ts'
import { AddressRefused, type DestinationPolicy } from '../destination/policy.ts'
import {
  httpExchange,
  type DeliveryMessage,
  type ReceiverResponse,
  type ExchangeSettings,
  createBodyLimit,
  targetOf,
} from './http-exchange.ts'
import { receiveInProcess, ReceiverFailed, type InProcessReceivers } from './in-process.ts'
import { explainFailure, explainStatus } from './failure.ts'
import { NotOwner } from '../slots.ts'
import { createTrustContext, type TlsTrust } from './tls-trust.ts'
import { timers } from '../../timers.ts'

export type SendResult = Omit<AttemptResult, 'started_at'>

export interface Sender {
  /** Sends once and resolves with the outcome. Rejects only when `signal` aborts, or with NotOwner. */
  send(message: DeliveryMessage, sending?: SendOptions): Promise<SendResult>
  /** Ends all connections, also those in use. */
  close(): Promise<void>
}

export interface SendOptions {
  /** Aborts the attempt. */
  signal?: AbortSignal | undefined
  /** Called when the response headers have arrived; the body is still read. */
  onHeaders?: (() => void) | undefined
  /** Called with the error that an in-process receiver threw. */
  onThrown?: ((error: unknown) => void) | undefined
  /** Called immediately before the request is written. When it returns false, nothing is sent, and `send` rejects. */
  mayBegin?: (() => boolean) | undefined
}

export interface SenderSettings {
  policy: Pick<DestinationPolicy, 'whyTextRefused' | 'lookup' | 'whyOffNetwork'>
  trust: TlsTrust
  /** Milliseconds from connecting until the response headers (specification section 8). Default 10,000. */
  timeoutMs?: number
  /** Milliseconds to wait for the kept part of a body. Default 1,000. */
  bodyTimeoutMs?: number
  /** Monotonic milliseconds for durations. Default: the machine's. */
  measure?: (() => number) | undefined
  /** In-process receivers, which bypass the network. */
  receivers?: Pick<InProcessReceivers, 'find'>
}

/**
 * Milliseconds that an idle connection is kept for the next delivery of a burst. Shorter than the limit of most receivers
 * (Node's is 5 s), so that a request seldom meets a closing connection and must be repeated.
 */
const KEEP_ALIVE_MS = 1_000

/** Bodies of one receiver read at a time. Together with its attempts in flight, fewer than the pump's lookahead. */
const BODIES_PER_ORIGIN = 16

export function createSender(settings: SenderSettings): Sender {
  const {
    policy,
    trust,
    timeoutMs = 10_000,
    bodyTimeoutMs = 1_000,
    measure = timers.elapsed,
    receivers,
  } = settings
  const connector = createConnector({
    policy,
    secureContext: createTrustContext(trust),
    insecure: trust.insecure,
    timeoutMs,
  })
  // undici loads with the first delivery: it takes half as long as the rest of the service.
  let loading: Promise<Connections> | undefined
  const { connect } = connector
  const limitBodies = createBodyLimit(BODIES_PER_ORIGIN)
  const transportFor = async (url: string): Promise<Transport> => {
    const receive = receivers?.find(url)
    if (receive !== undefined)
      return (message, limits, signal) => receiveInProcess(receive, message, limits, signal)
    const beyond = policy.whyOffNetwork(url)
    if (beyond !== undefined) return () => Promise.reject(new AddressRefused(beyond))
    loading ??= createConnections({ connect, keepAliveMs: KEEP_ALIVE_MS })
    const connections = await loading.catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return (message, limits, signal) => httpExchange(connections, message, limits, signal)
  }
  return {
    async send(message, { signal, onHeaders, onThrown, mayBegin } = {}) {
      const transport = await transportFor(message.url)
      signal?.throwIfAborted()
      if (mayBegin?.() === false) throw new NotOwner()
      const started = measure()
      try {
        const refused = policy.whyTextRefused(message.url)
        if (refused !== undefined) throw new AddressRefused(refused)
        const limits = {
          timeoutMs,
          bodyTimeoutMs,
          measure,
          mayBegin,
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
          ...response.headers,
          response_body: response.body,
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof NotOwner) throw error
        if (error instanceof ReceiverFailed && error.cause !== undefined) onThrown?.(error.cause)
        const failure = explainFailure(error, hostOf(message.url), timeoutMs)
        return {
          duration_ms: Math.round(measure() - started),
          ...failure,
          response_status: null,
          response_body: null,
        }
      }
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close()
      connector.destroy()
    },
  }
}

/** Carries a message to its receiver and resolves with the response. */
type Transport = (
  message: DeliveryMessage,
  limits: ExchangeSettings,
  signal?: AbortSignal,
) => Promise<ReceiverResponse>

/** Returns the outcome of a response; only a 2xx status is a success. */
export function outcomeOf({
  status,
  location,
}: Pick<ReceiverResponse, 'status' | 'location'>): Pick<SendResult, 'outcome' | 'error'> {
  if (status >= 200 && status < 300) return { outcome: 'succeeded', error: null }
  return explainStatus(status, location)
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
