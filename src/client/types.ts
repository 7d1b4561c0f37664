import type { AttemptMessage, Delivery } from '../model/delivery.ts'
import type { EnvelopeOf } from '../model/event-view.ts'
import type { OfferedAttempt } from '../model/offer.ts'
import type { LoggedRequest, PushNote } from '../model/simulator/request-entry.ts'
import type { ClockView, PlaybackReport } from '../model/simulator/playback.ts'

export type {
  ChecksQuery,
  ClaimsQuery,
  DeliveriesQuery,
  EndpointsQuery,
  EventsQuery,
  FeedbackQuery,
  KeysQuery,
  List,
  LocationsQuery,
  PageQuery,
  PaymentsQuery,
  RequestsQuery,
  SimPageQuery,
} from '../model/simulator/list-queries.ts'

/** Result of a push in the simulator's log. */
export type PushReport = PushNote
export type RequestView = LoggedRequest
export type { PingReport } from '../model/webhook-endpoint.ts'
/** Address of a table's page; its URL grants access to the table. */
export interface TableAddress {
  number: string
  location_id: string
  url: string
}
export type { EnvelopeOf, EventData, EventView } from '../model/event-view.ts'
export type { ClockView, PlayedAttempt } from '../model/simulator/playback.ts'

/** Attempts during a move of the clock. */
export type ClockReport = ClockView & PlaybackReport
export type { AttemptMessage } from '../model/delivery.ts'
export type StreamMessage =
  | { type: 'request'; data: RequestView }
  | { type: 'event'; data: EnvelopeOf }
  | { type: 'attempt'; data: AttemptMessage }
  /** An attempt to forward and to answer; only with `listener`. */
  | { type: 'offer'; data: OfferedAttempt }
  /** The delivery is dead without another attempt. */
  | { type: 'delivery'; data: Delivery }
  /** Another state has replaced everything that was reported before. */
  | { type: 'reset'; data: object }
  /** Number of messages that were left out here, because the reader was too slow. The lists have their contents. */
  | { type: 'dropped'; data: { count: number } }
  /** End of the earlier messages: from here on, messages come as things happen. */
  | { type: 'live'; data: object }
