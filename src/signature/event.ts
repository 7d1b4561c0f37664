/**
 * A check, with what guests did with it: the `data` of `check.*` events (contract section 3). Money is in integer minor
 * units, times are ISO 8601 in UTC.
 */
export interface Check {
  id: string
  /** The point of sale's own identifier. */
  external_id: string
  location_id: string
  table: { number: string }
  status: 'open' | 'closed'
  items: readonly CheckItem[]
  totals: { subtotal_cents: number; tax_cents: number; total_cents: number }
  /** The order field of its push: a number, or a UTC time if the deployment orders by time; `null` without one. */
  revision: number | string | null
  paid_cents: number
  /** The amount still owed; negative when the total fell below the payments. */
  balance_cents: number
  created_at: string
  /** Increases with every visible change: of two states of a check, the later time is newer. */
  updated_at: string
  closed_at: string | null
}

/** `price_cents` is the price of one unit, negative for a discount; claims count in thousandths of a unit. */
export interface CheckItem {
  external_id: string
  name: string
  quantity: number
  price_cents: number
  note: string | null
  claimed_quantity: number
  paid_quantity: number
}

/** Part of a check that a guest has claimed: the `data` of `claim.created`. */
export interface Claim {
  id: string
  check_id: string
  external_check_id: string
  guest_name: string | null
  items: readonly { external_id: string; quantity: number; price_cents: number }[]
  amount_cents: number
  status: 'active' | 'paid' | 'released'
  payment_id: string | null
  created_at: string
}

/** A guest's payment: the `data` of `payment.*` events. `amount_cents` does not include the tip. */
export interface Payment {
  id: string
  check_id: string
  external_check_id: string
  guest_name: string | null
  claim_ids: readonly string[]
  amount_cents: number
  tip_cents: number
  refunded_cents: number
  currency: string
  method: 'card'
  status: 'succeeded' | 'partially_refunded' | 'refunded'
  created_at: string
  refunded_at: string | null
}

/** A guest's rating of the meal, 1–5: the `data` of `feedback.received`. */
export interface Feedback {
  id: string
  check_id: string
  external_check_id: string
  guest_name: string | null
  rating: number
  comment: string | null
  created_at: string
}

/** The endpoint that a ping was sent to, without its secret: the `data` of `ping`. */
export interface WebhookEndpoint {
  id: string
  url: string
  event_types: readonly EventType[]
  status: 'enabled' | 'disabled'
  disabled_at: string | null
  disabled_reason: string | null
  created_at: string
}

/** The `data` of each event type (specification section 6, and the ping). */
export interface EventData {
  'check.created': Check
  'check.updated': Check
  'check.closed': Check
  'check.fully_paid': Check
  'payment.succeeded': Payment
  'payment.refunded': Payment
  'claim.created': Claim
  'feedback.received': Feedback
  ping: WebhookEndpoint
}

/** The types that an endpoint can register for. */
export type EventType = Exclude<keyof EventData, 'ping'>

/** The envelope of specification section 2. Delivery is at least once: the same `id` may come again. */
export interface EventOf<Type extends keyof EventData> {
  id: string
  type: Type
  created_at: string
  data: EventData[Type]
}

/** An event of a type that this version does not know. Receivers should answer it with 2xx. */
export interface UnknownEvent {
  id: string
  type: 'unknown'
  /** The type in the envelope. */
  received_type: string
  created_at: string
  data: unknown
}

/** Any event; `type` determines `data`. */
export type WebhookEvent = { [Type in keyof EventData]: EventOf<Type> }[keyof EventData] | UnknownEvent
