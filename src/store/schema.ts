import { checkKey, type Check } from '../model/check.ts'
import type { Delivery } from '../model/delivery.ts'
import type { CollectionName, Collections, Lookups } from '../model/records.ts'

/** How records are found other than by their id: under which key, if any, and in which order under that key. */
export interface IndexRule<T> {
  key(record: T): string | null
  rank(record: T): string
}

type Rules<C extends CollectionName> = Readonly<Record<Lookups[C], IndexRule<Collections[C]>>>

/** The lookups of every collection. Identifiers sort by the time of their making, so a lookup's results are oldest first. */
export const lookups: { readonly [C in CollectionName]: Rules<C> } = {
  locations: {},
  keys: { hash: byId(({ hash }) => hash) },
  checks: { external: byId<Check>(checkKey) },
  claims: {
    check: byId(({ location_id, external_check_id }) =>
      checkKey({ location_id, external_id: external_check_id }),
    ),
  },
  endpoints: { status: byId(({ status }) => status) },
  events: {},
  deliveries: { pending_of: byId(endpointWaitedFor), event: byId(({ event_id }) => event_id) },
}

/** The pending deliveries of each endpoint in the order in which they fall due. */
export const dueQueue: IndexRule<Delivery> = {
  key: (delivery) => (delivery.next_attempt_at === null ? null : endpointWaitedFor(delivery)),
  rank: ({ next_attempt_at, id }) => `${next_attempt_at} ${id}`,
}

function byId<T extends { id: string }>(key: (record: T) => string | null): IndexRule<T> {
  return { key, rank: ({ id }) => id }
}

function endpointWaitedFor({ status, endpoint_id }: Delivery): string | null {
  return status === 'pending' ? endpoint_id : null
}
