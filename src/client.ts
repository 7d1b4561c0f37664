import { ApiError } from './client/errors.ts'
import { readBytes, readStream } from './client/stream.ts'
import { requireKnownOptions, requireOptions } from './model/simulator/settings.ts'
import { didYouMean } from './model/text/advice.ts'
import { limited, requireSignal, type CallOptions } from './client/limit.ts'
import { paginate, type ClientReads, type Listing, type StreamOptions } from './client/reads.ts'
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
  PageQuery,
  PaymentsQuery,
  PingReport,
  RequestsQuery,
  StreamMessage,
  RequestView,
  TableAddress,
} from './client/types.ts'
import {
  createCall,
  createSend,
  queryText,
  type ClientOptions,
  externalIdOf,
  idOf,
  encodedId,
  stateJson,
  textOf,
  timeText,
  type CheckOrId,
  type JsonText,
  type RecordOrId,
  type TimeGiven,
} from './client/transport.ts'
import type { ApiKeyView } from './model/api-key.ts'
import type { CreateKeyBody } from './model/simulator/bodies.ts'
import type { Bundle } from './model/simulator/bundle.ts'
import type { Check, PushInput } from './model/check.ts'
import type {
  ClaimBody,
  ClaimView,
  FeedbackBody,
  FeedbackView,
  PayBody,
  PaymentView,
  RefundBody,
} from './model/guests/records.ts'
import type { Delivery, SentSignature } from './model/delivery.ts'
import { eventTypes, type EventType } from './model/event.ts'
import type { EventData, EventView } from './model/event-view.ts'
import type { FaultsView, FaultsWanted } from './model/simulator/fault.ts'
import { inspectorCode, inspectorLink } from './model/simulator/inspector-link.ts'
import type { Location } from './model/records.ts'
import type { Account, Report } from './model/simulator/report.ts'
import type { State, StateReport } from './model/simulator/state.ts'
import type { ChosenSecretBody, WebhookEndpointView } from './model/webhook-endpoint.ts'
import type { GuestsReport, GuestsWanted } from './guests/play.ts'
import {
  noneDelivered,
  waitForDelivered,
  type DeliveriesUnwanted,
  type DeliveriesWanted,
  waitForEvent,
  type EventWanted,
} from './assertions/delivered.ts'

export { ApiError, TimedOut, Unreachable } from './client/errors.ts'
export type { CallOptions } from './client/limit.ts'
export type { Listing, StreamOptions } from './client/reads.ts'
export type {
  CheckOrId,
  ClientOptions,
  FetchText,
  JsonText,
  RecordOrId,
  TimeGiven,
} from './client/transport.ts'
export type * from './client/types.ts'
export type { Account, AccountOfCheck, Problem, ProblemCode, Sums } from './model/simulator/report.ts'
export type { Bundle } from './model/simulator/bundle.ts'
export type { ApiKeyView } from './model/api-key.ts'
export type { CreateKeyBody } from './model/simulator/bodies.ts'
export type { Check, CheckItem, PushInput } from './model/check.ts'
export type {
  ClaimBody,
  ClaimedItem,
  ClaimView,
  FeedbackBody,
  FeedbackView,
  PayBody,
  PaymentView,
  RefundBody,
} from './model/guests/records.ts'
export type { Attempt, Delivery, SentSignature } from './model/delivery.ts'
export type { EventType, StoredEvent } from './model/event.ts'
export type { FaultsView, FaultsWanted } from './model/simulator/fault.ts'
export type { Location } from './model/records.ts'
export type { FindingCode, Report, ReportedFinding } from './model/simulator/report.ts'
export type { LoggedRequest, PushNote } from './model/simulator/request-entry.ts'
export type { State, StateReport } from './model/simulator/state.ts'
export type { ChosenSecretBody, WebhookEndpointView } from './model/webhook-endpoint.ts'
export type { ErrorCode } from './model/refusal.ts'
export {
  NotDelivered,
  type DeliveriesUnwanted,
  type DeliveriesWanted,
  type DeliveryFilter,
  type SomeDeliveries,
  NotHappened,
  type EventWanted,
} from './assertions/delivered.ts'
export type { GuestAct, GuestsReport, GuestsWanted } from './guests/play.ts'

/** The typed calls of a service. An interface, so that declarations of other packages can name it. */
// oxlint-disable-next-line typescript/no-empty-object-type -- Its members are those of the calls.
export interface Client extends ReturnType<typeof createCalls> {}

/**
 * Creates a typed client of the service and its simulator. The calls have the names of the commands and resolve with the
 * responses of the API. Each rejects with {@link ApiError}, {@link Unreachable} or {@link TimedOut}.
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:4100', apiKey })
 * const { check } = await client.checks.push('table-12', body)
 * const [delivery] = await client.deliveries.waitFor({ type: 'check.created', check })
 */
export function createClient(options: ClientOptions): Client {
  requireOptions(options)
  // A started service or a record of one has further fields.
  const known = ['url', 'apiKey', 'ca', 'fetch']
  const misspelt = Object.keys(options).flatMap((name) => {
    const hint = known.includes(name) ? '' : didYouMean(name, known)
    return hint === '' ? [] : [`unknown option ${JSON.stringify(name)}${hint}`]
  })
  if (misspelt.length > 0) throw new TypeError(misspelt.join('\n'))
  return createCalls(options)
}

function createCalls(options: ClientOptions) {
  const send = createSend(options)
  const callAny = createCall(send)
  const call: typeof callAny = async (method, path, ...rest) => {
    const answer = await callAny(method, path, ...rest)
    const { json, requestId } = answer
    // Another deployment may answer a change without a body, or with a word.
    const isPage = typeof json === 'string' && (method === 'GET' || /^\s*</.test(json))
    const isObject = typeof json === 'object' && json !== null
    // Every response of a service has the header (specification section 1); other servers may answer any path, also with 200
    // and without a body. An object may come from a deployment that lacks the header.
    const isForeign = requestId === null && (path.startsWith('/_sim/') || (method !== 'GET' && !isObject))
    if (!isPage && !isForeign && (isObject || method !== 'GET')) return answer
    const reason = isPage ? 'is not JSON' : isForeign ? 'has no X-Request-Id' : 'is not a JSON object'
    const message = `The response to ${method} ${path} ${reason}, so another server answers at ${new URL(options.url).origin}. Check the URL and the port.`
    throw new ApiError(answer.status, { message }, requestId, path)
  }
  const get = async <T>(path: string, query: object = {}, options?: CallOptions) =>
    (await call('GET', path + queryText(query), undefined, options)).json as T
  const post = async <T>(path: string, body?: unknown, options?: CallOptions) =>
    (await call('POST', path, body === undefined ? undefined : JSON.stringify(body), options)).json as T
  /** Posts a body that the service requires. A call from JavaScript may lack it: the service then names its fields. */
  const postBody = async <T>(path: string, body: object | undefined) => post<T>(path, body ?? {})
  const remove = async <T>(path: string) => (await call('DELETE', path)).json as T
  const ofCheck = ['external_check_id'] as const
  const listing = <T, Query extends PageQuery>(
    path: string,
    // `/v1` ignores unknown names, as a service may; `/_sim` refuses them.
    names?: readonly Exclude<keyof Query, keyof PageQuery>[],
  ): Listing<T, Query> => {
    const list = async (query?: Query, options?: CallOptions) => {
      if (names !== undefined && query !== undefined)
        requireKnownOptions(query, ['limit', 'cursor', ...names.map(String)])
      return get<List<T>>(path, query, options)
    }
    return { list, all: (query) => paginate(list, query) }
  }

  function stream(options?: StreamOptions): AsyncGenerator<StreamMessage>
  /** Streams messages; `stream({ signal, onOpen, since })` replaces it. */
  function stream(signal: AbortSignal, onOpen?: () => void, since?: Date): AsyncGenerator<StreamMessage>
  async function* stream(given: AbortSignal | StreamOptions = {}, onOpen?: () => void, since?: Date) {
    const wanted = given instanceof AbortSignal ? { signal: given, onOpen, since } : given
    requireKnownOptions(wanted, ['signal', 'since', 'lastEventId', 'listener', 'onOpen', 'onId'])
    requireSignal(wanted.signal)
    const path = `/_sim/stream${queryText({ since: timeText(wanted.since), listener: wanted.listener })}`
    yield* readStream(send, path, wanted.signal ?? new AbortController().signal, wanted)
  }

  const deliveries = Object.assign(listing<Delivery, DeliveriesQuery>('/_sim/deliveries'), {
    /** Returns a delivery with its attempts. */
    get: async (id: string, options?: CallOptions) =>
      get<Delivery>(`/_sim/deliveries/${encodedId(id)}`, {}, options),
  })
  const events = Object.assign(listing<EventView, EventsQuery>('/_sim/events'), {
    /** Returns an event: its envelope, and the exact text that is signed and sent. */
    get: async (id: string) => get<EventView>(`/_sim/events/${encodedId(id)}`),
  })
  const endpoints = Object.assign(listing<WebhookEndpointView, EndpointsQuery>('/v1/webhook-endpoints', []), {
    /** Returns a webhook endpoint, without its secret. */
    get: async (id: string) => get<WebhookEndpointView>(`/v1/webhook-endpoints/${encodedId(id)}`),
  })
  const clock = {
    /** Returns the time of the service's clock, and whether it stands still. */
    show: async (options?: CallOptions) => get<ClockView>('/_sim/clock', {}, options),
    /**
     * Advances the clock by a duration such as `36h`, and resolves when all deliveries that fall due meanwhile are attempted.
     * @default options.timeout is unlimited
     */
    advance: async (duration: string, options?: CallOptions) =>
      post<ClockReport>('/_sim/clock', { advance: duration }, options),
    /**
     * Advances the clock to a time: a `Date`, milliseconds since 1970, or an ISO 8601 text. Otherwise as `advance`.
     * @default options.timeout is unlimited
     */
    moveTo: async (time: TimeGiven, options?: CallOptions) =>
      post<ClockReport>('/_sim/clock', { to: timeText(time) }, options),
    /**
     * Freezes the clock, or resumes it from its time.
     * @default options.timeout is unlimited
     */
    freeze: async (frozen: boolean, options?: CallOptions) =>
      post<ClockView>('/_sim/clock', { freeze: frozen }, options),
  }
  const checks = Object.assign(listing<Check, ChecksQuery>('/v1/checks', ['status', 'table']), {
    /** Returns a check by its external id. */
    get: async (externalId: string, options?: CallOptions) =>
      get<Check>(`/v1/checks/external/${encodedId(externalId)}`, {}, options),
    /**
     * Pushes the current state of a check. A JSON text is sent byte for byte.
     * @default options.timeout is unlimited
     */
    async push(externalId: string, body: JsonText | PushInput, options?: CallOptions) {
      const path = `/v1/checks/external/${encodedId(externalId)}`
      const { status, requestId, json } = await call('PUT', path, textOf(body), options)
      return { status, requestId, check: json as Check }
    },
  })
  const guests = {
    /**
     * Claims items of a check: all of them or none.
     * @default body.guest_name is null
     */
    claim: async (check: CheckOrId, body: Given<Pick<ClaimBody, 'items'> & Partial<ClaimBody>>) =>
      postBody<ClaimView>(`/_sim/checks/${encodedId(externalIdOf(check))}/claims`, body),
    /** Releases a claim that is not paid. */
    release: async (claim: RecordOrId) => remove<ClaimView>(`/_sim/claims/${encodedId(idOf(claim))}`),
    /**
     * Pays claims, or an amount.
     * @default body is {}, the whole balance without a tip
     */
    pay: async (check: CheckOrId, body: Given<Partial<PayBody>> = {}) =>
      post<PaymentView>(`/_sim/checks/${encodedId(externalIdOf(check))}/payments`, body),
    /**
     * Refunds a payment, or part of it.
     * @default body is {}, the rest of the payment
     */
    refund: async (payment: RecordOrId, body: Given<RefundBody> = {}) =>
      post<PaymentView>(`/_sim/payments/${encodedId(idOf(payment))}/refunds`, body),
    /**
     * Rates the meal, from 1 to 5.
     * @default body.comment and body.guest_name are null
     */
    rate: async (check: CheckOrId, body: Given<Pick<FeedbackBody, 'rating'> & Partial<FeedbackBody>>) =>
      postBody<FeedbackView>(`/_sim/checks/${encodedId(externalIdOf(check))}/feedback`, body),
  }
  const request = async (method: string, path: string, body?: unknown, options?: CallOptions) => {
    if (!path.startsWith('/')) throw new TypeError(`The path must begin with /, got ${JSON.stringify(path)}.`)
    return callAny(method, path, body === undefined ? undefined : JSON.stringify(body), options)
  }
  const reads: ClientReads = { stream, deliveries, events, request, clock }

  const save = async (options?: CallOptions) =>
    (await call('GET', '/_sim/state', undefined, options)).json as State
  const load = async (state: JsonText | State | AsyncIterable<Uint8Array>, options?: CallOptions) =>
    (await call('PUT', '/_sim/state', stateJson(state), options)).json as StateReport
  const reset = (options?: CallOptions) => post<StateReport>('/_sim/reset', undefined, options)

  return {
    locations: listing<Location, LocationsQuery>('/v1/locations', []),
    checks,
    claims: Object.assign(listing<ClaimView, ClaimsQuery>('/v1/claims', ofCheck), {
      /** Returns a claim. */
      get: async (id: string) => get<ClaimView>(`/v1/claims/${encodedId(id)}`),
    }),
    payments: Object.assign(listing<PaymentView, PaymentsQuery>('/v1/payments', ofCheck), {
      /** Returns a payment. */
      get: async (id: string) => get<PaymentView>(`/v1/payments/${encodedId(id)}`),
    }),
    feedback: Object.assign(listing<FeedbackView, FeedbackQuery>('/v1/feedback', ofCheck), {
      /** Returns a rating with its comment. */
      get: async (id: string) => get<FeedbackView>(`/v1/feedback/${encodedId(id)}`),
    }),
    inspector: {
      /**
       * Creates a link that opens the inspector in a browser, at the origin that this client calls. The link works once and
       * expires after `expires_in_seconds`.
       */
      async link() {
        const made = await post<{ code?: unknown; expires_in_seconds: number }>('/_sim/inspector-links')
        return { url: linkTo(options.url, made.code), expires_in_seconds: made.expires_in_seconds }
      },
    },
    tables: {
      /** Returns the URL that the QR code of a table opens. */
      address: async (number: string) => get<TableAddress>(`/_sim/tables/${encodedId(number)}`),
    },
    /** Actions of guests. A check is given by its external id, or as the check itself. */
    guests: Object.assign(guests, {
      /**
       * Plays guests on every open check, reproducibly by a seed: they claim, release, split, pay, tip, refund and rate. Each
       * action is one of the calls above.
       * @throws ApiError for any refusal other than those that guests expect: a conflict, a declined card, and a check, claim
       * or payment that has changed or is gone.
       * @example
       * const { paid_cents, tip_cents } = await client.guests.play({ seed: 7 })
       */
      async play(wanted?: GuestsWanted): Promise<GuestsReport> {
        const { playGuests } = await import('./guests/play.ts')
        // Without injected faults and rate limits, which are for the integration under test.
        const open = listing<Check, ChecksQuery>('/_sim/checks')
        return playGuests({ checks: open, ...guests, advance: clock.advance, stream: reads.stream }, wanted)
      },
    }),
    endpoints: Object.assign(endpoints, {
      /**
       * Registers a receiver. Only this response has the signing secret.
       * @default body.event_types are all event types
       * @example
       * const { signing_secret } = await client.endpoints.create({ url: 'https://shop.example/webhooks' })
       */
      create: async (wanted: EndpointWanted = {} as EndpointWanted) => {
        // The service ignores unknown fields, and would register for all events.
        requireKnownOptions(wanted, ['url', 'event_types'])
        const { url, event_types = [...eventTypes] } = wanted
        return post<WebhookEndpointView & { signing_secret: string }>('/v1/webhook-endpoints', {
          url,
          event_types,
        })
      },
      /**
       * Registers a receiver through the simulator, with a chosen secret.
       * @default body.signing_secret is created by the service
       */
      createWithSecret: async (body: Given<ChosenSecretBody>) =>
        postBody<WebhookEndpointView & { signing_secret: string }>('/_sim/webhook-endpoints', body),
      /** Sends one signed ping, and resolves with the receiver's response. */
      ping: async (endpoint: RecordOrId) =>
        post<PingReport>(`/v1/webhook-endpoints/${encodedId(idOf(endpoint))}/test`),
      /** Deletes a webhook endpoint; its pending deliveries become dead. */
      delete: async (endpoint: RecordOrId) =>
        remove<WebhookEndpointView>(`/_sim/webhook-endpoints/${encodedId(idOf(endpoint))}`),
    }),
    deliveries: Object.assign(deliveries, {
      /**
       * Waits for matching deliveries, and resolves with them, oldest first. Deliveries that exist already count.
       * @throws NotDelivered after the timeout, with the deliveries that were found instead.
       * @default wanted is {}: one successful delivery of any event, within 4000 ms
       * @example
       * const [delivery] = await client.deliveries.waitFor({ type: 'check.fully_paid', check: 'table-12' })
       */
      waitFor: (wanted?: DeliveriesWanted) => waitForDelivered(reads, wanted),
      /**
       * Resolves when no matching delivery exists, is due or in flight. Waits only for attempts in flight. Retries that are
       * due later do not count.
       * @throws NotDelivered for a matching delivery; TimedOut when an attempt in flight takes too long.
       * @default unwanted is {}: no successful delivery of any event
       * @example
       * await client.deliveries.none({ type: 'check.closed', check: 'table-12' })
       */
      none: (unwanted?: DeliveriesUnwanted) => noneDelivered(reads, unwanted),
      /** Returns the signature header of the latest attempt, as it was sent. */
      signature: async (id: string) => get<SentSignature>(`/_sim/deliveries/${encodedId(id)}/signature`),
      /**
       * Creates a delivery of the same event to the same endpoint. Does not wait for its attempt.
       * @default options.fresh is true: signed with the current time; false repeats the header of the first attempt
       */
      resend: async (delivery: RecordOrId, options: { fresh?: boolean | undefined } = {}) => {
        requireKnownOptions(options, ['fresh'])
        const { fresh = true } = options
        return post<Delivery>(`/_sim/deliveries/${encodedId(idOf(delivery))}/resend`, { fresh })
      },
    }),
    events: Object.assign(events, {
      /**
       * Waits for an event of a type, and resolves with the oldest one. Events that exist already count. The event type
       * determines the type of `data`.
       * @throws NotHappened after the timeout, with the events that were found instead.
       * @default options.timeout is 4000 ms
       * @example
       * const { data } = await client.events.waitFor('payment.succeeded', { check: 'table-12' })
       * console.log(data.amount_cents)
       */
      waitFor: <Type extends keyof EventData>(type: Type, options?: EventWanted) =>
        waitForEvent(reads, type, options),
    }),
    requests: Object.assign(listing<RequestView, RequestsQuery>('/_sim/requests'), {
      /** Returns a request by its `X-Request-Id`. */
      get: async (id: string) => get<RequestView>(`/_sim/requests/${encodedId(id)}`),
    }),
    /**
     * Returns the findings about an integration.
     * @default since is undefined, the start of the service
     */
    async report(since?: TimeGiven) {
      return reportFrom(options.url, await get<Report>('/_sim/report', { since: timeText(since) }))
    },
    /**
     * Returns the account of POS, payments and receiver: the amounts of each check, and all problems.
     * @default options.all_closed is false; true makes every open check a problem
     * @example
     * const { problems } = await client.account()
     * assert.deepEqual(problems, [])
     */
    account: async (options: AccountWanted = {}) => {
      requireKnownOptions(options, ['all_closed'])
      return get<Account>('/_sim/account', accountQuery(options))
    },
    /**
     * Returns state, request log, clock, faults, report and account of one moment, without secrets. `tabwire replay` reads
     * the bundle.
     * @default options.since is undefined, the start of the service; options.all_closed is as for `account`
     * @example
     * const { verdict } = await client.bundle()
     */
    bundle: async (options: BundleWanted = {}) => {
      requireKnownOptions(options, ['since', 'all_closed'])
      return get<Bundle>('/_sim/bundle', { since: timeText(options.since), ...accountQuery(options) })
    },
    keys: Object.assign(listing<ApiKeyView, KeysQuery>('/_sim/keys'), {
      /**
       * Creates an API key. Only this response has the key.
       * @default body is {}: all scopes, and the location of the calling key
       */
      create: async (body: Given<Partial<CreateKeyBody>> = {}) =>
        post<ApiKeyView & { api_key: string }>('/_sim/keys', body),
      /** Revokes an API key. */
      revoke: async (id: string) => remove<ApiKeyView>(`/_sim/keys/${encodedId(id)}`),
    }),
    clock,
    faults: {
      /** Returns all faults, with the number of injections of each. */
      show: async () => get<FaultsView>('/_sim/faults'),
      /** Replaces all faults. */
      set: async (body: Given<FaultsWanted>) =>
        (await call('PUT', '/_sim/faults', textOf(body))).json as FaultsView,
      /** Clears all faults. */
      clear: async () => remove<FaultsView>('/_sim/faults'),
    },
    state: {
      /** Returns all records with signing secrets, and the clock, without API keys. */
      save,
      /**
       * Passes the JSON of the state to `use` as it arrives, in bytes and with one record per line.
       * @default options.timeout is unlimited
       */
      read: <T>(use: (json: AsyncIterable<Uint8Array>) => Promise<T>, limits: CallOptions = {}) =>
        limited(limits, async (signal) => use(await readBytes(send, '/_sim/state', signal))),
      /**
       * Replaces the clock, and all records except API keys, by a state or by the JSON of one. JSON of more than 128 MiB must
       * have one record per line.
       */
      load,
      /** Another name of `save`. */
      get: save,
      /** Another name of `load`. */
      put: load,
      /** Removes all records except locations and API keys, clears the faults, and resets the clock. */
      reset,
    },
    /** Removes all records except locations and API keys, clears the faults, and resets the clock. */
    reset,
    /**
     * Sends any request, and resolves with status, `X-Request-Id` and JSON of the response. Rejects with {@link ApiError}
     * unless the status is 2xx.
     * @default body is undefined, options.timeout is unlimited
     * @example
     * const { json } = await client.request('GET', '/_sim/health')
     */
    request,
    /** Returns the health of the service. Needs no key. */
    health: async () => get<{ status: string; started_at?: string; order_by?: string }>('/_sim/health'),
    /**
     * Streams requests, events and attempts until the signal aborts, the loop ends or the service ends. A reader that is more
     * than 4 MiB behind misses messages: the message `dropped` has their number.
     * @default options is {}: from now on, without a signal
     * @example
     * for await (const message of client.stream({ signal }))
     *   if (message.type === 'event' && message.data.type === 'check.closed') console.log(message.data.data.external_id)
     */
    stream,
  }
}

/** Options of an account. */
export interface AccountWanted {
  /**
   * Reports every open check as a problem.
   * @default false
   */
  all_closed?: boolean | undefined
}

function accountQuery({ all_closed }: AccountWanted): { all_closed?: 'true' } {
  return all_closed === true ? { all_closed: 'true' } : {}
}

/** Options of a bundle. */
export interface BundleWanted extends AccountWanted {
  /**
   * Start time of the report.
   * @default undefined, the start of the service
   */
  since?: TimeGiven | undefined
}

/** A body as a caller passes it: lists may be read-only, and `undefined` stands for the default of an optional field. */
export type Given<T> = T extends readonly (infer Entry)[]
  ? readonly Given<Entry>[]
  : T extends object
    ? { [Name in keyof T]: object extends Pick<T, Name> ? Given<T[Name]> | undefined : Given<T[Name]> }
    : T

/** A receiver to register. */
export interface EndpointWanted {
  /** An `https:` URL. */
  url: string
  /**
   * Event types that are delivered to it.
   * @default all event types
   */
  event_types?: readonly EventType[] | undefined
}

/** Returns a report as this version has it. @throws Error for one of an earlier version, which lacks fields. */
function reportFrom(url: string, report: Partial<Report> | null): Report {
  if (Array.isArray(report?.findings) && Array.isArray(report.refused)) return report as Report
  throw new Error(
    `The service at ${new URL(url).origin} returned a report without all fields. It may run another version: restart it with \`tabwire start\`.`,
  )
}

/**
 * The service returns only the code, so that it cannot choose the opened address. A service that listens on every
 * address of this machine is reached by loopback.
 */
function linkTo(url: string, code: unknown): string {
  const { origin } = new URL(
    url.replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/, '$1127.0.0.1').replace('//[::]', '//[::1]'),
  )
  if (typeof code === 'string' && inspectorCode.test(code)) return inspectorLink(origin, code)
  throw new Error(
    `The service at ${origin} returned no link to its inspector. It may run another version: restart it with \`tabwire start\`.`,
  )
}
