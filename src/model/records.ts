import type { ApiKey } from './api-key.ts'
import type { StoredCheck } from './check.ts'
import type { Claim, Feedback, Payment } from './guests/records.ts'
import type { Delivery } from './delivery.ts'
import type { StoredEvent } from './event.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

/**
 * All stored records, by collection. Records are plain JSON, keyed by `id`, and immutable: a write replaces the whole
 * record.
 */
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

/** All records of every collection, oldest first. */
export type Everything = { readonly [C in CollectionName]: readonly Collections[C][] }

/** The records of an empty store. */
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

/** Secondary indexes by collection. One key can match several records. */
export interface Indexes {
  /** `all`: every location, under the key `''`. */
  locations: 'all'
  keys: 'hash'
  /** `checkKey`: location and external id. Unique. */
  checks: 'external'
  /** `checkKey` of the claimed check. */
  claims: 'check'
  /** `checkKey` of the paid check. */
  payments: 'check'
  /** `checkKey` of the rated check. */
  feedback: 'check'
  endpoints: 'status'
  events: never
  /** `pending_of`: the endpoint of a pending delivery; `event`: the delivered event. */
  deliveries: 'pending_of' | 'event'
}

/** One read of an operation: a record by its id, or all records under an index key. */
type ReadOne = { [C in CollectionName]: ReadOneOf<C> }[CollectionName]
export type ReadOneOf<C extends CollectionName> =
  | { collection: C; id: string }
  | { collection: C; index: Indexes[C]; key: string }

/** Result of one read: the record or `undefined`, or an iterator over records in order of creation. */
type ReadResult<A> = A extends { collection: infer C extends CollectionName; id: string }
  ? Collections[C] | undefined
  : A extends { collection: infer C extends CollectionName; index: unknown }
    ? Iterable<Collections[C]>
    : never

export type Reads = Readonly<Record<string, ReadOne>>
export type ReadResults<A extends Reads> = { readonly [K in keyof A]: ReadResult<A[K]> }

/** One change: replaces or adds the record with this id, or removes it. */
export type Write = { [C in CollectionName]: Put<C> | Removal<C> }[CollectionName]
interface Put<C extends CollectionName> {
  collection: C
  put: Collections[C]
  /** True for a delivery that ends without another attempt. Without this mark, its last attempt would count as new. */
  retires?: true
  /** JSON of the record, if it is already known; for checks only, whose JSON is stored as it is. */
  json?: string
}
interface Removal<C extends CollectionName> {
  collection: C
  remove: string
}

export function put<C extends CollectionName>(collection: C, record: Collections[C]): Write {
  return { collection, put: record } as Put<C> as Write
}

export function remove(collection: CollectionName, id: string): Write {
  return { collection, remove: id } as Write
}

/** Returns the delivery that a write leaves pending, if any. */
export function pendingIn(write: Write): Delivery | undefined {
  return write.collection === 'deliveries' && 'put' in write && write.put.status === 'pending'
    ? write.put
    : undefined
}

/** Returns the delivery whose newest attempt a write records, if any. */
export function attemptedIn(write: Write): Delivery | undefined {
  if (write.collection !== 'deliveries' || !('put' in write) || write.retires) return undefined
  // A write that holds, releases or offers a delivery repeats its earlier attempts.
  const { attempts, held, offer } = write.put
  return attempts.length === 0 || held !== undefined || offer !== undefined ? undefined : write.put
}

/** A location of the restaurant, as `GET /locations` lists it (contract section 2). */
export interface Location {
  id: string
  name: string
  /** IANA name, such as `America/New_York`. */
  timezone: string
  /** ISO 4217 code. */
  currency: string
  created_at: string
}
