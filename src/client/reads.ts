import type { TimeGiven } from './given.ts'
import type { Delivery } from '../model/delivery.ts'
import type { WebhookEndpointView } from '../model/webhook-endpoint.ts'
import type {
  ClockView,
  DeliveriesQuery,
  EndpointsQuery,
  EventsQuery,
  EventView,
  List,
  StreamMessage,
} from './views.ts'

/** How the live stream is read. */
export interface StreamOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined
  /**
   * Attempts and requests that began then or later come first, then `live`.
   * @default undefined, nothing of earlier times
   */
  since?: TimeGiven | undefined
  /** Called once the service streams: nothing that happens from then on is missed. */
  onOpen?: (() => void) | undefined
}

/** The calls of a client that waiting is made of. */
export interface Reads {
  stream(options: StreamOptions): AsyncGenerator<StreamMessage>
  deliveries: {
    list(query?: DeliveriesQuery): Promise<List<Delivery>>
    get(id: string): Promise<Delivery>
  }
  events: { list(query?: EventsQuery): Promise<List<EventView>> }
  endpoints: { list(query?: EndpointsQuery): Promise<List<WebhookEndpointView>> }
  clock: { show(): Promise<ClockView> }
}
