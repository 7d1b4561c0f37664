import { checkKey } from '../model/check.ts'
import type { Delivery } from '../model/delivery.ts'
import type { OfCheck } from '../model/guest.ts'
import type { CollectionName, Collections, Lookups } from '../model/records.ts'
import type { QueueRule } from './queue.ts'

/** Under which key a record is found, or `null` when it is not. */
export type KeyOf<T> = (record: T) => string | null

type Rules<C extends CollectionName> = Readonly<Record<Lookups[C], KeyOf<Collections[C]>>>

/** How the records of every collection are found other than by their id. */
export const lookups: { readonly [C in CollectionName]: Rules<C> } = {
  locations: {},
  keys: { hash: ({ hash }) => hash },
  checks: { external: checkKey },
  claims: { check: keyOfItsCheck },
  payments: { check: keyOfItsCheck },
  feedback: { check: keyOfItsCheck },
  endpoints: { status: ({ status }) => status },
  events: {},
  deliveries: { pending_of: endpointWaitedFor, event: ({ event_id }) => event_id },
}

/** The pending deliveries of each endpoint in the order in which they fall due. */
export const dueQueue: QueueRule<Delivery> = {
  key: (delivery) => (delivery.next_attempt_at === null ? null : endpointWaitedFor(delivery)),
  rank: ({ next_attempt_at, id }) => `${next_attempt_at} ${id}`,
}

function keyOfItsCheck({ location_id, external_check_id }: Omit<OfCheck, 'check_id'>): string {
  return checkKey({ location_id, external_id: external_check_id })
}

function endpointWaitedFor({ status, endpoint_id }: Delivery): string | null {
  return status === 'pending' ? endpoint_id : null
}
