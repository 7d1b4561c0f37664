import type { AttemptMessage } from '../model/attempt-message.ts'
import type { Delivery } from '../model/delivery.ts'
import type { EnvelopeOf } from '../model/event-view.ts'
import type { LoggedRequest, PushNote } from '../model/simulator/request-entry.ts'
import type { Played } from '../model/simulator/playback.ts'

/** A list as every list answers: newest first, with the cursor of the next page. */
export interface List<T> {
  data: T[]
  next_cursor: string | null
}
/**
 * Query names with their values.
 * @deprecated Each list has a query type of its own, such as {@link DeliveriesQuery}.
 */
export type ListQuery = Readonly<Record<string, string | number | undefined>>
export type {
  ChecksQuery,
  ClaimsQuery,
  DeliveriesQuery,
  EndpointsQuery,
  EventsQuery,
  FeedbackQuery,
  KeysQuery,
  LocationsQuery,
  PageQuery,
  PaymentsQuery,
  RequestsQuery,
  SimPageQuery,
} from '../model/simulator/list-queries.ts'

/** What a push came to, as the simulator's log tells it. */
export type PushReport = PushNote
export type RequestView = LoggedRequest
export type { PingReport } from '../model/ping-report.ts'
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
  /** The move that is under way: where it goes to, and the ids of the deliveries in flight that it waits for, ten at most. */
  moving: { to: string; waiting_for: readonly string[] } | null
}
export type { EnvelopeOf, EventData, EventView } from '../model/event-view.ts'
export type { PlayedAttempt } from '../model/simulator/playback.ts'

/** What was attempted while the clock moved. */
export type ClockReport = ClockView & Played
export type { AttemptMessage } from '../model/attempt-message.ts'
export type StreamMessage =
  | { type: 'request'; data: RequestView }
  | { type: 'event'; data: EnvelopeOf }
  | { type: 'attempt'; data: AttemptMessage }
  /** It is dead without another attempt. */
  | { type: 'delivery'; data: Delivery }
  /** Another state has taken the place of all that was told before. */
  | { type: 'reset'; data: object }
  /** So many messages were left out in this place, because too much waited to be read. The lists have what they told. */
  | { type: 'dropped'; data: { count: number } }
  /** After what was asked for of earlier times: from here on things are told as they happen. */
  | { type: 'live'; data: object }
