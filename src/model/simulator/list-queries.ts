import type { AttemptOutcome, DeliveryWord } from '../delivery.ts'
import type { EventType } from '../event.ts'
import type { FindingCode } from './report.ts'
import type { PushWord } from './request-entry.ts'

/** Number of records in a page (contract section 3). */
export const pageLimit = { default: 20, max: 100 }

/** One page of a list, newest first unless asked otherwise, with the cursor of the next page. */
export interface List<T> {
  data: T[]
  next_cursor: string | null
}

/** Query of every list (contract section 3). */
export interface PageQuery {
  /**
   * Largest number of records in the page, 1 to 100.
   * @default 20
   */
  limit?: number | undefined
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined
}

/** Query of every list of the simulator. */
export interface SimPageQuery extends PageQuery {
  /**
   * `desc` for newest first, `asc` for oldest first. A cursor continues in the requested order.
   * @default 'desc'
   */
  order?: 'asc' | 'desc' | undefined
}

interface CheckFilter {
  /** Only records of this check, by the POS's external id. */
  external_check_id?: string | undefined
}

interface Searched {
  /** Only records that contain this text, at most 255 characters. */
  q?: string | undefined
}

export interface TimeFilter {
  /** Only records of this time or later, ISO 8601. */
  from?: string | undefined
  /** Only records before this time, ISO 8601. */
  to?: string | undefined
}

/** Query of `GET /v1/locations`. */
export type LocationsQuery = PageQuery

/** Query of `GET /v1/checks`. */
export interface ChecksQuery extends PageQuery {
  /** Only checks with this status. */
  status?: 'open' | 'closed' | undefined
  /** Only checks at the table with this number. */
  table?: string | undefined
}

/** Query of `GET /v1/claims`. */
export type ClaimsQuery = PageQuery & CheckFilter

/** Query of `GET /v1/payments`. */
export type PaymentsQuery = PageQuery & CheckFilter

/** Query of `GET /v1/feedback`. */
export type FeedbackQuery = PageQuery & CheckFilter

/** Query of `GET /v1/webhook-endpoints`. */
export type EndpointsQuery = PageQuery

/** Filters of deliveries. */
export interface DeliveryQuery extends Searched, CheckFilter {
  /** Only deliveries with this status; `pending` includes `retrying` and `held`. */
  status?: DeliveryWord | undefined
  /** Only deliveries whose latest attempt has this outcome. */
  outcome?: AttemptOutcome | undefined
  /** Only deliveries to this webhook endpoint. */
  endpoint_id?: string | undefined
  /** Only deliveries of this event. */
  event_id?: string | undefined
  /** Only deliveries of events of this type. */
  type?: EventType | 'ping' | undefined
}

/** Query of `GET /_sim/deliveries/activity`. */
export interface ActivityQuery extends DeliveryQuery {
  /** Only attempts that started at this time or later. */
  from?: string | undefined
  /** Only attempts that started before this time. */
  to?: string | undefined
}

/** Query of `GET /_sim/deliveries`. Its times select deliveries that were created or attempted then. */
export type DeliveriesQuery = SimPageQuery & DeliveryQuery & TimeFilter

/** Query of `GET /_sim/events`. */
export interface EventsQuery extends SimPageQuery, Searched, CheckFilter, TimeFilter {
  /** Only events of this type. */
  type?: EventType | 'ping' | undefined
}

/** Query of `GET /_sim/requests`. */
export interface RequestsQuery extends SimPageQuery, Searched, CheckFilter, TimeFilter {
  /** Only pushes. */
  kind?: 'push' | undefined
  /** Only requests with an error status, or only those without. */
  failed?: boolean | 'true' | 'false' | undefined
  /** Only pushes with this outcome; `refused` before a decision, or by an injected `fault`. */
  outcome?: PushWord | undefined
  /** Only pushes with this finding, or with `any`. */
  finding?: FindingCode | 'any' | undefined
}

/** Query of `GET /_sim/keys`. */
export type KeysQuery = SimPageQuery
