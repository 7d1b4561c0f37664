import type { Dispatcher } from 'undici'
import type { AttemptResult } from '../model/delivery.ts'
import { ConnectTimeout, createConnector } from './connect.ts'
import { AddressRefused, type DestinationPolicy } from './destination.ts'
import { readStart } from './response-body.ts'
import { explainFailure, explainStatus } from './send-failure.ts'
import { createTrustContext, requireCertificates, type Trust } from './trust.ts'

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
  send(message: Message, signal?: AbortSignal): Promise<SendResult>
  /** Ends all connections, also those in use. */
  close(): Promise<void>
}

export interface SenderSettings {
  policy: Pick<DestinationPolicy, 'inspect' | 'lookup'>
  trust: Trust
  /** From starting to connect until the response's headers are there (specification section 8). */
  timeoutMs?: number
  /** How long to wait for the part of a body that is kept. */
  bodyTimeoutMs?: number
}

/**
 * How long an idle connection is kept for the next delivery of a burst: shorter than any receiver's own limit (Node's
 * is 5 s), or a delivery might go out on a connection that is being closed, and fail without anybody's fault.
 */
const KEEP_ALIVE_MS = 1_000

/** @throws Error when what is to be trusted is no certificate. */
export function createSender(settings: SenderSettings): Sender {
  const { policy, trust, timeoutMs = 10_000, bodyTimeoutMs = 1_000 } = settings
  requireCertificates(trust.ca)
  const connector = createConnector({
    policy,
    secureContext: createTrustContext(trust),
    insecure: trust.insecure,
    timeoutMs,
  })
  // Loaded with the first delivery: it takes as long as half of the rest of the service.
  let loading: ReturnType<typeof openClient> | undefined
  const client = () => (loading ??= openClient(connector.connect))
  return {
    async send(message, signal) {
      const opened = await client()
      signal?.throwIfAborted()
      const started = performance.now()
      const elapsed = () => Math.round(performance.now() - started)
      try {
        const refused = policy.inspect(message.url)
        if (refused !== undefined) throw new AddressRefused(refused)
        const response = await post(opened, message, timeoutMs, signal)
        const duration_ms = elapsed()
        return {
          duration_ms,
          ...judge(response),
          response_body: await readStart(response.body, bodyTimeoutMs),
        }
      } catch (error) {
        signal?.throwIfAborted()
        const failure = explainFailure(error, hostOf(message.url), timeoutMs)
        return { duration_ms: elapsed(), ...failure, response_status: null, response_body: null }
      }
    },
    async close() {
      await (await loading)?.dispatcher.destroy()
      connector.destroy()
    },
  }
}

async function openClient(connect: ReturnType<typeof createConnector>['connect']) {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({
    connect,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The deadline of the attempt is the only one: undici's own start anew for each phase.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { dispatcher, request }
}

/** Resolves with the response once its headers are there. After that an attempt soon ends by itself. */
async function post(
  { dispatcher, request }: Awaited<ReturnType<typeof openClient>>,
  { url, headers, body }: Message,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Dispatcher.ResponseData> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new ConnectTimeout('no headers in time')), timeoutMs)
  const takeBack = () => deadline.abort(signal?.reason)
  signal?.addEventListener('abort', takeBack, { once: true })
  try {
    return await request(url, { method: 'POST', headers, body, dispatcher, signal: deadline.signal })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', takeBack)
  }
}

function judge({ statusCode, headers }: Dispatcher.ResponseData) {
  const response_status = statusCode
  if (statusCode >= 200 && statusCode < 300)
    return { outcome: 'succeeded' as const, response_status, error: null }
  const { location } = headers
  return {
    ...explainStatus(statusCode, typeof location === 'string' ? location : undefined),
    response_status,
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
