import { ApiError, Unreachable } from './api-error.ts'
import type { ApiKeyView, CreateKeyBody } from './model/api-key.ts'
import type { Check } from './model/check.ts'
import type { AttemptMessage } from './model/attempt-message.ts'
import type { ClaimBody, ClaimView } from './model/claim.ts'
import type { AttemptOutcome, Delivery } from './model/delivery.ts'
import type { Envelope, EventView } from './model/event.ts'
import type { FaultsView, FaultsWanted } from './model/fault.ts'
import type { FeedbackBody, FeedbackView } from './model/feedback.ts'
import type { Location } from './model/location.ts'
import type { LoggedRequest, PushNote } from './model/logged-request.ts'
import type { PayBody, PaymentView, RefundBody } from './model/payment.ts'
import type { Played } from './model/played.ts'
import type { Report } from './model/report.ts'
import type { State, StateReport } from './model/state.ts'
import type { ChosenSecretBody, RegisterEndpointBody, WebhookEndpointView } from './model/webhook-endpoint.ts'

export interface ClientOptions {
  /** Of the service, `http://127.0.0.1:4100`; a final `/v1` may be there. */
  url: string
  apiKey?: string | undefined
  /** PEM of the authority that issued the service's certificate, for `https:` URLs. */
  ca?: string | undefined
}

/** A list as every list answers: newest first, with the cursor of the next page. */
export interface List<T> {
  data: T[]
  next_cursor: string | null
}
export type ListQuery = Readonly<Record<string, string | number | undefined>>

/** What a push came to, as the simulator's log tells it. */
export type PushReport = PushNote
export type RequestView = LoggedRequest
export interface PingReport {
  delivery_id: string
  event_id: string
  outcome: AttemptOutcome | null
  response_status: number | null
  duration_ms: number | null
  error: string | null
}
/** Where the page of a table is; whoever knows the URL sits at the table. */
export interface TableAddress {
  number: string
  location_id: string
  url: string
}
/** The clock that the service lives by. */
export interface ClockView {
  now: string
  frozen: boolean
  /** How far it is ahead of real time. */
  offset_ms: number
}
export type { PlayedAttempt } from './model/played.ts'

/** What was attempted while the clock moved. */
export type ClockReport = ClockView & Played
export type { AttemptMessage } from './model/attempt-message.ts'
export type StreamMessage =
  | { type: 'request'; data: RequestView }
  | { type: 'event'; data: Envelope }
  | { type: 'attempt'; data: AttemptMessage }
  /** It is dead without another attempt. */
  | { type: 'delivery'; data: Delivery }
  /** Another state has taken the place of all that was told before. */
  | { type: 'reset'; data: object }
  /** After what was asked for of earlier times: from here on things are told as they happen. */
  | { type: 'live'; data: object }

export { ApiError, Unreachable } from './api-error.ts'

export type Client = ReturnType<typeof createClient>

/**
 * A typed client of the service and its simulator.
 * Every call rejects with {@link ApiError} or {@link Unreachable}.
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:4100', apiKey })
 * const { check } = await client.checks.push('table-12', JSON.stringify(body))
 */
export function createClient(options: ClientOptions) {
  const call = caller(options)
  const get = async <T>(path: string, query: ListQuery = {}) =>
    (await call('GET', path + queryText(query))).json as T
  const post = async <T>(path: string, body?: unknown) =>
    (await call('POST', path, body === undefined ? undefined : JSON.stringify(body))).json as T
  const remove = async <T>(path: string) => (await call('DELETE', path)).json as T
  const one = encodeURIComponent
  return {
    locations: { list: (query?: ListQuery) => get<List<Location>>('/v1/locations', query) },
    checks: {
      list: (query?: ListQuery) => get<List<Check>>('/v1/checks', query),
      get: (externalId: string) => get<Check>(`/v1/checks/external/${one(externalId)}`),
      /** Sends `body`, a JSON text, as it is: of bytes, not one is changed. */
      async push(externalId: string, body: string | Uint8Array) {
        const { status, requestId, json } = await call('PUT', `/v1/checks/external/${one(externalId)}`, body)
        return { status, requestId, check: json as Check }
      },
    },
    claims: {
      list: (query?: ListQuery) => get<List<ClaimView>>('/v1/claims', query),
      get: (id: string) => get<ClaimView>(`/v1/claims/${one(id)}`),
    },
    payments: {
      list: (query?: ListQuery) => get<List<PaymentView>>('/v1/payments', query),
      get: (id: string) => get<PaymentView>(`/v1/payments/${one(id)}`),
    },
    feedback: {
      list: (query?: ListQuery) => get<List<FeedbackView>>('/v1/feedback', query),
      get: (id: string) => get<FeedbackView>(`/v1/feedback/${one(id)}`),
    },
    tables: {
      /** Where the page of a table is that its QR code opens. */
      address: (number: string) => get<TableAddress>(`/_sim/tables/${one(number)}`),
    },
    /** What guests do at the table, through the simulator. Checks go by their external id. */
    guests: {
      claim: (check: string, body: Pick<ClaimBody, 'items'> & Partial<ClaimBody>) =>
        post<ClaimView>(`/_sim/checks/${one(check)}/claims`, body),
      release: (claimId: string) => remove<ClaimView>(`/_sim/claims/${one(claimId)}`),
      /** Pays claims, or an amount, or with neither the whole balance. */
      pay: (check: string, body: Partial<PayBody> = {}) =>
        post<PaymentView>(`/_sim/checks/${one(check)}/payments`, body),
      /** Refunds the rest of a payment unless an amount is given. */
      refund: (paymentId: string, body: RefundBody = {}) =>
        post<PaymentView>(`/_sim/payments/${one(paymentId)}/refunds`, body),
      rate: (check: string, body: Pick<FeedbackBody, 'rating'> & Partial<FeedbackBody>) =>
        post<FeedbackView>(`/_sim/checks/${one(check)}/feedback`, body),
    },
    endpoints: {
      create: (body: RegisterEndpointBody) =>
        post<WebhookEndpointView & { signing_secret: string }>('/v1/webhook-endpoints', body),
      /** The same through the simulator, with a secret of the caller's choice. */
      createWithSecret: (body: ChosenSecretBody) =>
        post<WebhookEndpointView & { signing_secret: string }>('/_sim/webhook-endpoints', body),
      list: (query?: ListQuery) => get<List<WebhookEndpointView>>('/v1/webhook-endpoints', query),
      get: (id: string) => get<WebhookEndpointView>(`/v1/webhook-endpoints/${one(id)}`),
      ping: (id: string) => post<PingReport>(`/v1/webhook-endpoints/${one(id)}/test`),
      delete: (id: string) => remove<WebhookEndpointView>(`/_sim/webhook-endpoints/${one(id)}`),
    },
    deliveries: {
      list: (query?: ListQuery) => get<List<Delivery>>('/_sim/deliveries', query),
      get: (id: string) => get<Delivery>(`/_sim/deliveries/${one(id)}`),
      /** Makes a new delivery of the same event to the same endpoint, signed anew or verbatim, and does not wait for it. */
      resend: (id: string, { fresh = true } = {}) =>
        post<Delivery>(`/_sim/deliveries/${one(id)}/resend`, { fresh }),
    },
    events: {
      list: (query?: ListQuery) => get<List<EventView>>('/_sim/events', query),
      get: (id: string) => get<EventView>(`/_sim/events/${one(id)}`),
    },
    requests: {
      get: (id: string) => get<RequestView>(`/_sim/requests/${one(id)}`),
      list: (query?: ListQuery) => get<List<RequestView>>('/_sim/requests', query),
    },
    /** What an integration did wrong, since a time or ever. */
    report: (since?: Date) => get<Report>('/_sim/report', { since: since?.toISOString() }),
    keys: {
      create: (body: Partial<CreateKeyBody>) => post<ApiKeyView & { api_key: string }>('/_sim/keys', body),
      list: (query?: ListQuery) => get<List<ApiKeyView>>('/_sim/keys', query),
      revoke: (id: string) => remove<ApiKeyView>(`/_sim/keys/${one(id)}`),
    },
    clock: {
      show: () => get<ClockView>('/_sim/clock'),
      /** Plays everything that falls due within a duration such as `36h`, and resolves when that is done. */
      advance: (duration: string) => post<ClockReport>('/_sim/clock', { advance: duration }),
      moveTo: (iso: string) => post<ClockReport>('/_sim/clock', { to: iso }),
      freeze: (frozen: boolean) => post<ClockView>('/_sim/clock', { freeze: frozen }),
    },
    faults: {
      show: () => get<FaultsView>('/_sim/faults'),
      /** Puts these in the place of all that are set. */
      set: async (body: FaultsWanted) =>
        (await call('PUT', '/_sim/faults', JSON.stringify(body))).json as FaultsView,
      clear: () => remove<FaultsView>('/_sim/faults'),
    },
    state: {
      /** Everything the service knows, its signing secrets included; no API keys. */
      get: () => get<State>('/_sim/state'),
      /** Puts a state, a JSON text, in the place of everything. */
      put: async (text: string | Uint8Array) => (await call('PUT', '/_sim/state', text)).json as StateReport,
      reset: () => post<StateReport>('/_sim/reset'),
    },
    /** Any call, for what has no method here: its status beside its answer, and {@link ApiError} unless that is 2xx. */
    request: (method: string, path: string, body?: unknown) =>
      call(method, path, body === undefined ? undefined : JSON.stringify(body)),
    health: () => get<Record<string, unknown>>('/_sim/health'),
    /**
     * What happens, as it happens, until `signal` aborts or the service ends; `onOpen` is called once it listens. With
     * `since`, attempts and requests that began then or later come first, then `live`.
     */
    stream: (signal: AbortSignal, onOpen?: () => void, since?: Date) =>
      readStream(options, `/_sim/stream${queryText({ since: since?.toISOString() })}`, signal, onOpen),
  }
}

function queryText(query: ListQuery): string {
  const given = Object.entries(query).filter((entry) => entry[1] !== undefined)
  if (given.length === 0) return ''
  const text = given.map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(text).toString()}`
}

function caller(options: ClientOptions) {
  return async (method: string, path: string, body?: string | Uint8Array) => {
    const response = await send(options, method, path, body)
    const requestId = response.headers.get('x-request-id')
    const json = await readBody(response)
    if (!response.ok) throw new ApiError(response.status, errorOf(json), requestId)
    return { status: response.status, requestId, json }
  }
}

async function send(
  options: ClientOptions,
  method: string,
  path: string,
  body?: string | Uint8Array,
  signal?: AbortSignal,
) {
  const url = new URL(options.url)
  const address = url.origin + url.pathname.replace(/\/+(v1\/?)?$/, '') + path
  const headers: Record<string, string> = {}
  if (options.apiKey !== undefined) headers.authorization = `Bearer ${options.apiKey}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  try {
    return await fetchWith(options.ca, address, {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Unreachable(`No service answers at ${url.origin}: ${reasonOf(error)}.`, { cause: error })
  }
}

/** Node's fetch knows no authority but the public ones, so a service with a certificate of its own takes undici's. */
async function fetchWith(ca: string | undefined, address: string, init: RequestInit): Promise<Response> {
  if (ca === undefined) return fetch(address, init)
  const { Agent, fetch: fetchThrough } = await import('undici')
  const dispatcher = new Agent({ connect: { ca } })
  const response = await fetchThrough(address, { ...init, dispatcher } as Parameters<typeof fetchThrough>[1])
  return response
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  const { code, message } = cause as { code?: string; message?: string }
  return code === 'ECONNREFUSED' ? 'the connection was refused' : (message ?? String(cause))
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw new Unreachable('The connection broke before the whole answer had arrived.', { cause })
  })
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function errorOf(json: unknown): Record<string, unknown> {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { error?: unknown }
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}

async function* readStream(
  options: ClientOptions,
  path: string,
  signal: AbortSignal,
  onOpen?: () => void,
): AsyncGenerator<StreamMessage> {
  const response = await send(options, 'GET', path, undefined, signal)
  if (!response.ok) throw new ApiError(response.status, errorOf(await readBody(response)), null)
  onOpen?.()
  const text = response.body?.pipeThrough(new TextDecoderStream() as never)
  // Loaded when it is used: web streams take longer to come than most commands to run.
  const { EventSourceParserStream } = await import('eventsource-parser/stream')
  const messages = text?.pipeThrough(new EventSourceParserStream())
  try {
    for await (const { event, data } of messages ?? [])
      yield { type: event, data: JSON.parse(data) as unknown } as StreamMessage
  } catch (error) {
    if (!signal.aborted) throw new Unreachable('The service ended the stream.', { cause: error })
  }
}
