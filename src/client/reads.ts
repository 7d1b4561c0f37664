import { pageLimit } from '../model/simulator/list-queries.ts'
import type { Delivery } from '../model/delivery.ts'
import type { CallOptions } from './limit.ts'
import type { TimeGiven } from './transport.ts'
import type {
  ClockView,
  DeliveriesQuery,
  EventsQuery,
  EventView,
  List,
  PageQuery,
  StreamMessage,
} from './types.ts'

/** A list of the API. */
export interface Listing<T, Query extends PageQuery> {
  /**
   * Returns one page, newest first, with the cursor of the next page.
   * @default query.limit is 20, options.timeout is unlimited
   */
  list(query?: Query, options?: CallOptions): Promise<List<T>>
  /**
   * Iterates over every record, newest first. Requests the next page when it is needed.
   * @default query.limit, the size of the pages, is 100
   * @example
   * for await (const check of client.checks.all({ status: 'open' })) console.log(check.external_id)
   */
  all(query?: Query): AsyncGenerator<T, void>
}

/** Iterates over all records of a list from the cursor of the query on, page by page. */
export async function* paginate<T, Query extends PageQuery>(
  list: (query?: Query) => Promise<List<T>>,
  query: Query = {} as Query,
): AsyncGenerator<T, void> {
  for (let { cursor } = query; ;) {
    const page = await list({ ...query, limit: query.limit ?? pageLimit.max, cursor })
    yield* page.data
    const next = page.next_cursor ?? undefined
    // Another service may ignore the cursor, and return its first page again.
    if (next === undefined || next === cursor) return
    cursor = next
  }
}

/** Options of the live stream. */
export interface StreamOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined
  /**
   * Attempts and requests that began then or later come first, then `live`.
   * @default undefined, nothing of earlier times
   */
  since?: TimeGiven | undefined
  /**
   * Id of the last message that the caller has. The messages since that one come first, then `live`. When they are no
   * longer kept, `dropped` or `reset` comes instead. An id that the service does not know is ignored.
   */
  lastEventId?: string | undefined
  /**
   * Name of a listener. The messages then include `offer` for each attempt to an endpoint with a URL such as
   * `https://<name>.listen.invalid/1`. The caller forwards each attempt and answers it with
   * `POST /_sim/deliveries/{id}/attempts/{number}/response`.
   * @default undefined, no offers
   */
  listener?: string | undefined
  /** Called once the service streams: nothing that happens from then on is missed. */
  onOpen?: (() => void) | undefined
  /** Called with the id of each message, before the message is yielded. */
  onId?: ((id: string) => void) | undefined
}

/** The calls of a client by which deliveries and events are waited for. */
export interface ClientReads {
  stream(options: StreamOptions): AsyncGenerator<StreamMessage>
  deliveries: {
    list(query?: DeliveriesQuery, options?: CallOptions): Promise<List<Delivery>>
    get(id: string, options?: CallOptions): Promise<Delivery>
  }
  events: { list(query?: EventsQuery, options?: CallOptions): Promise<List<EventView>> }
  request(method: string, path: string, body?: unknown, options?: CallOptions): Promise<{ json: unknown }>
  clock: { show(options?: CallOptions): Promise<ClockView> }
}
