import type { ApiKey } from './api-key.ts'
import type { StoredCheck } from './check.ts'
import type { Claim } from './guests/claim.ts'
import type { Delivery } from './delivery.ts'
import type { StoredEvent } from './event.ts'
import type { Feedback } from './guests/feedback.ts'
import type { Location } from './location.ts'
import type { Payment } from './guests/payment.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

/** Everything that is stored, by collection. Records are plain JSON, keyed by `id`, and never mutated: a write replaces. */
export interface Collections {
  locations: Location
  keys: ApiKey
  checks: StoredCheck
  claims: Claim
  payments: Payment
  feedback: Feedback
  endpoints: WebhookEndpoint
  events: StoredEvent
  deliveries: Delivery
}
export type CollectionName = keyof Collections

/** All records of every collection, each oldest first. */
export type Everything = { readonly [C in CollectionName]: readonly Collections[C][] }

/** What a store holds that holds nothing. */
export const noRecords: Everything = {
  locations: [],
  keys: [],
  checks: [],
  claims: [],
  payments: [],
  feedback: [],
  endpoints: [],
  events: [],
  deliveries: [],
}

/** The further keys under which records are found, by collection. One key may name several records. */
export interface Lookups {
  locations: never
  keys: 'hash'
  /** `checkKey`: location and external id. Names one check at most. */
  checks: 'external'
  /** `checkKey` of the check that is claimed. */
  claims: 'check'
  /** `checkKey` of the check that is paid. */
  payments: 'check'
  /** `checkKey` of the check of the meal that is rated. */
  feedback: 'check'
  endpoints: 'status'
  events: never
  /** `pending_of`: the endpoint whose delivery is pending; `event`: the event that is delivered. */
  deliveries: 'pending_of' | 'event'
}

/** One read of an operation: the record with an id, or all records under a key of an index. */
export type ReadOne = { [C in CollectionName]: ReadOneOf<C> }[CollectionName]
export type ReadOneOf<C extends CollectionName> =
  | { collection: C; id: string }
  | { collection: C; lookup: Lookups[C]; key: string }

/** The result of one read: the record, if there is one; or the records in order of creation, iterated lazily. */
export type ReadResult<A> = A extends { collection: infer C extends CollectionName; id: string }
  ? Collections[C] | undefined
  : A extends { collection: infer C extends CollectionName; lookup: unknown }
    ? Iterable<Collections[C]>
    : never

export type Reads = Readonly<Record<string, ReadOne>>
export type ReadResults<A extends Reads> = { readonly [K in keyof A]: ReadResult<A[K]> }

/** One change: a record put in the place of the one with its id, or taken away. */
export type Write = { [C in CollectionName]: Put<C> | Removal<C> }[CollectionName]
export interface Put<C extends CollectionName> {
  collection: C
  put: Collections[C]
  /** A delivery that ends without another attempt: the record alone cannot tell it from one that has just had its last. */
  retires?: true
}
export interface Removal<C extends CollectionName> {
  collection: C
  remove: string
}

export function put<C extends CollectionName>(collection: C, record: Collections[C]): Write {
  return { collection, put: record } as Put<C> as Write
}

export function remove(collection: CollectionName, id: string): Write {
  return { collection, remove: id } as Write
}
