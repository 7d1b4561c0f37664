import { readStream } from './client/stream.ts'
import type { CallOptions } from './client/limit.ts'
import { createCall, createSend, queryText, type ClientOptions } from './client/transport.ts'
import type {
  ChecksQuery,
  ClaimsQuery,
  ClockReport,
  ClockView,
  DeliveriesQuery,
  EndpointsQuery,
  EventsQuery,
  FeedbackQuery,
  KeysQuery,
  List,
  LocationsQuery,
  PaymentsQuery,
  PingReport,
  RequestsQuery,
  RequestView,
  TableAddress,
} from './client/views.ts'
import { externalIdOf, idOf, textOf, type CheckOrId, type JsonText, type RecordOrId } from './client/given.ts'
import type { ApiKeyView, CreateKeyBody } from './model/api-key.ts'
import type { Check, PushInput } from './model/check.ts'
import type { ClaimBody, ClaimView } from './model/claim.ts'
import type { Delivery } from './model/delivery.ts'
import type { EventView } from './model/event.ts'
import type { FaultsView, FaultsWanted } from './model/fault.ts'
import type { FeedbackBody, FeedbackView } from './model/feedback.ts'
import { inspectorCode, inspectorLink } from './model/inspector-link.ts'
import type { Location } from './model/location.ts'
import type { PayBody, PaymentView, RefundBody } from './model/payment.ts'
import type { Report } from './model/report.ts'
import type { SentSignature } from './model/sent-signature.ts'
import type { State, StateReport } from './model/state.ts'
import type { ChosenSecretBody, RegisterEndpointBody, WebhookEndpointView } from './model/webhook-endpoint.ts'

export { ApiError, TimedOut, Unreachable } from './api-error.ts'
export type { CheckOrId, JsonText, RecordOrId } from './client/given.ts'
export type { CallOptions } from './client/limit.ts'
export type { ClientOptions, FetchText } from './client/transport.ts'
export type * from './client/views.ts'

export type Client = ReturnType<typeof createClient>

/**
 * A typed client of the service and its simulator.
 * Every call rejects with {@link ApiError}, {@link Unreachable} or {@link TimedOut}.
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:4100', apiKey })
 * const { check } = await client.checks.push('table-12', JSON.stringify(body))
 */
export function createClient(options: ClientOptions) {
  const send = createSend(options)
  const call = createCall(send)
  const get = async <T>(path: string, query: object = {}) =>
    (await call('GET', path + queryText(query))).json as T
  const post = async <T>(path: string, body?: unknown, options?: CallOptions) =>
    (await call('POST', path, body === undefined ? undefined : JSON.stringify(body), options)).json as T
  const remove = async <T>(path: string) => (await call('DELETE', path)).json as T
  const one = encodeURIComponent
  return {
    locations: { list: (query?: LocationsQuery) => get<List<Location>>('/v1/locations', query) },
    checks: {
      list: (query?: ChecksQuery) => get<List<Check>>('/v1/checks', query),
      get: (externalId: string) => get<Check>(`/v1/checks/external/${one(externalId)}`),
      /** Sends `body`; a JSON text as it is: of bytes, not one is changed. */
      async push(externalId: string, body: JsonText | PushInput) {
        const path = `/v1/checks/external/${one(externalId)}`
        const { status, requestId, json } = await call('PUT', path, textOf(body))
        return { status, requestId, check: json as Check }
      },
    },
    claims: {
      list: (query?: ClaimsQuery) => get<List<ClaimView>>('/v1/claims', query),
      get: (id: string) => get<ClaimView>(`/v1/claims/${one(id)}`),
    },
    payments: {
      list: (query?: PaymentsQuery) => get<List<PaymentView>>('/v1/payments', query),
      get: (id: string) => get<PaymentView>(`/v1/payments/${one(id)}`),
    },
    feedback: {
      list: (query?: FeedbackQuery) => get<List<FeedbackView>>('/v1/feedback', query),
      get: (id: string) => get<FeedbackView>(`/v1/feedback/${one(id)}`),
    },
    inspector: {
      /** A link that opens it in a browser, at the origin that this client calls: good once, for so many seconds. */
      async link() {
        const made = await post<{ code?: unknown; expires_in_seconds: number }>('/_sim/inspector-links')
        return { url: linkTo(options.url, made.code), expires_in_seconds: made.expires_in_seconds }
      },
    },
    tables: {
      /** Where the page of a table is that its QR code opens. */
      address: (number: string) => get<TableAddress>(`/_sim/tables/${one(number)}`),
    },
    /** What guests do at the table, through the simulator. A check goes by its external id. */
    guests: {
      claim: (check: CheckOrId, body: Pick<ClaimBody, 'items'> & Partial<ClaimBody>) =>
        post<ClaimView>(`/_sim/checks/${one(externalIdOf(check))}/claims`, body),
      release: (claim: RecordOrId) => remove<ClaimView>(`/_sim/claims/${one(idOf(claim))}`),
      /** Pays claims, or an amount, or with neither the whole balance. */
      pay: (check: CheckOrId, body: Partial<PayBody> = {}) =>
        post<PaymentView>(`/_sim/checks/${one(externalIdOf(check))}/payments`, body),
      /** Refunds the rest of a payment unless an amount is given. */
      refund: (payment: RecordOrId, body: RefundBody = {}) =>
        post<PaymentView>(`/_sim/payments/${one(idOf(payment))}/refunds`, body),
      rate: (check: CheckOrId, body: Pick<FeedbackBody, 'rating'> & Partial<FeedbackBody>) =>
        post<FeedbackView>(`/_sim/checks/${one(externalIdOf(check))}/feedback`, body),
    },
    endpoints: {
      create: (body: RegisterEndpointBody) =>
        post<WebhookEndpointView & { signing_secret: string }>('/v1/webhook-endpoints', body),
      /** The same through the simulator, with a secret of the caller's choice. */
      createWithSecret: (body: ChosenSecretBody) =>
        post<WebhookEndpointView & { signing_secret: string }>('/_sim/webhook-endpoints', body),
      list: (query?: EndpointsQuery) => get<List<WebhookEndpointView>>('/v1/webhook-endpoints', query),
      get: (id: string) => get<WebhookEndpointView>(`/v1/webhook-endpoints/${one(id)}`),
      ping: (endpoint: RecordOrId) => post<PingReport>(`/v1/webhook-endpoints/${one(idOf(endpoint))}/test`),
      delete: (endpoint: RecordOrId) =>
        remove<WebhookEndpointView>(`/_sim/webhook-endpoints/${one(idOf(endpoint))}`),
    },
    deliveries: {
      list: (query?: DeliveriesQuery) => get<List<Delivery>>('/_sim/deliveries', query),
      get: (id: string) => get<Delivery>(`/_sim/deliveries/${one(id)}`),
      /** The signature header of its latest attempt, as it was sent. */
      signature: (id: string) => get<SentSignature>(`/_sim/deliveries/${one(id)}/signature`),
      /** Makes a new delivery of the same event to the same endpoint, signed anew or verbatim, and does not wait for it. */
      resend: (delivery: RecordOrId, { fresh = true } = {}) =>
        post<Delivery>(`/_sim/deliveries/${one(idOf(delivery))}/resend`, { fresh }),
    },
    events: {
      list: (query?: EventsQuery) => get<List<EventView>>('/_sim/events', query),
      get: (id: string) => get<EventView>(`/_sim/events/${one(id)}`),
    },
    requests: {
      get: (id: string) => get<RequestView>(`/_sim/requests/${one(id)}`),
      /** Newest first, or by `order` `asc`; `finding` is the code of one, or `any`. */
      list: (query?: RequestsQuery) => get<List<RequestView>>('/_sim/requests', query),
    },
    /** What an integration did wrong, since a time or ever. */
    report: (since?: Date) => get<Report>('/_sim/report', { since: since?.toISOString() }),
    keys: {
      create: (body: Partial<CreateKeyBody>) => post<ApiKeyView & { api_key: string }>('/_sim/keys', body),
      list: (query?: KeysQuery) => get<List<ApiKeyView>>('/_sim/keys', query),
      revoke: (id: string) => remove<ApiKeyView>(`/_sim/keys/${one(id)}`),
    },
    clock: {
      show: () => get<ClockView>('/_sim/clock'),
      /** Plays everything that falls due within a duration such as `36h`, and resolves when that is done. */
      advance: (duration: string, options?: CallOptions) =>
        post<ClockReport>('/_sim/clock', { advance: duration }, options),
      moveTo: (iso: string, options?: CallOptions) => post<ClockReport>('/_sim/clock', { to: iso }, options),
      freeze: (frozen: boolean, options?: CallOptions) =>
        post<ClockView>('/_sim/clock', { freeze: frozen }, options),
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
      get: async (options?: CallOptions) =>
        (await call('GET', '/_sim/state', undefined, options)).json as State,
      /** Puts a state, or its JSON text, in the place of everything. */
      put: async (state: JsonText | State, options?: CallOptions) =>
        (await call('PUT', '/_sim/state', textOf(state), options)).json as StateReport,
      reset: (options?: CallOptions) => post<StateReport>('/_sim/reset', undefined, options),
    },
    /** Any call, for what has no method here: its status beside its answer, and {@link ApiError} unless that is 2xx. */
    request: (method: string, path: string, body?: unknown) =>
      call(method, path, body === undefined ? undefined : JSON.stringify(body)),
    health: () => get<{ status: string; started_at?: string; order_by?: string }>('/_sim/health'),
    /**
     * What happens, as it happens, until `signal` aborts or the service ends; `onOpen` is called once it listens. With
     * `since`, attempts and requests that began then or later come first, then `live`. A reader that falls more than 4 MiB
     * behind is told by `dropped` how many messages it missed.
     */
    stream: (signal: AbortSignal, onOpen?: () => void, since?: Date) =>
      readStream(send, `/_sim/stream${queryText({ since: since?.toISOString() })}`, signal, onOpen),
  }
}

/**
 * The service says nothing but the code, so that no address of its choice is ever opened. A service that listens on every
 * address of this machine is reached by loopback.
 */
function linkTo(url: string, code: unknown): string {
  const { origin } = new URL(
    url.replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/, '$1127.0.0.1').replace('//[::]', '//[::1]'),
  )
  if (typeof code === 'string' && inspectorCode.test(code)) return inspectorLink(origin, code)
  throw new Error(
    `The service at ${origin} did not answer with a code for its inspector. It may be of another version: restart it with tabwire start.`,
  )
}
