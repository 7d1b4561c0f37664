import type { EventType } from '../event.ts'
import type { HttpHeader } from '../delivery.ts'
import type { WebhookEndpoint } from '../webhook-endpoint.ts'

/** HTTP request of an attempt, computed from stored records. */
export interface SentRequest {
  /** Number of the attempt; `null` before the first one. */
  attempt: number | null
  method: 'POST'
  /** `null` when the endpoint was removed before this version stored its URL. */
  url: string | null
  headers: readonly HttpHeader[]
  /** Why the signature header is missing. */
  unsigned_reason: string | null
  /** The exact text that is signed and sent. */
  body: string
  /** The endpoint as it is now. */
  endpoint: {
    status: WebhookEndpoint['status'] | 'removed'
    disabled_reason: string | null
    event_types: readonly EventType[]
  }
}

/** Dead deliveries that can be resent, and the number of others by reason. */
export interface ResendPlan {
  /** Oldest first. */
  ids: readonly string[]
  skipped: Readonly<Record<SkipReason, number>>
}

/** Why a dead delivery is not resent; `covered` by another delivery of the same event to the same endpoint. */
export type SkipReason = 'endpoint_disabled' | 'endpoint_removed' | 'covered' | 'ping'
