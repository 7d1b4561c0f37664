import { checkKey } from '../../model/check.ts'
import type { Delivery } from '../../model/delivery.ts'
import type { OfCheck } from '../../model/claim.ts'
import type { CollectionName, Collections, Lookups } from '../../model/records.ts'
import type { DueIndexRule } from './due-index.ts'
import { compareText } from './sorted-records.ts'

/** Returns the key of a record in an index; `null` when it is not indexed. */
export type KeyOf<T> = (record: T) => string | null

type Rules<C extends CollectionName> = Readonly<Record<Lookups[C], KeyOf<Collections[C]>>>

/** The indexes of each collection. Deliveries have their own table. */
export const lookups: { readonly [C in Exclude<CollectionName, 'deliveries'>]: Rules<C> } = {
  locations: {},
  keys: { hash: ({ hash }) => hash },
  checks: { external: checkKey },
  claims: { check: keyOfItsCheck },
  payments: { check: keyOfItsCheck },
  feedback: { check: keyOfItsCheck },
  endpoints: { status: ({ status }) => status },
  events: {},
}

/** The fields of a delivery that the due index uses. */
type Queued = Pick<Delivery, 'id' | 'status' | 'next_attempt_at' | 'endpoint_id' | 'attempts'>

/** Orders the pending deliveries of each endpoint by due time. */
export const dueIndexRule: DueIndexRule<Queued> = {
  key: ({ status, next_attempt_at, endpoint_id }) =>
    status === 'pending' && next_attempt_at !== null ? endpoint_id : null,
  compare: (one, other) =>
    compareText(one.next_attempt_at ?? '', other.next_attempt_at ?? '') || compareText(one.id, other.id),
  isFresh: ({ attempts }) => attempts.length === 0,
}

function keyOfItsCheck({ location_id, external_check_id }: Omit<OfCheck, 'check_id'>): string {
  return checkKey({ location_id, external_id: external_check_id })
}
