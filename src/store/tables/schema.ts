import { checkKey } from '../../model/check.ts'
import type { OfCheck } from '../../model/claim.ts'
import type { CollectionName, Collections, Lookups } from '../../model/records.ts'

/** Returns the key of a record in an index; `null` when it is not indexed. */
export type KeyOf<T> = (record: T) => string | null

type Rules<C extends CollectionName> = Readonly<Record<Lookups[C], KeyOf<Collections[C]>>>

/** The indexes of each collection, beside the due index of deliveries. */
export const lookups: { readonly [C in CollectionName]: Omit<Rules<C>, 'pending_of'> } = {
  locations: {},
  keys: { hash: ({ hash }) => hash },
  checks: { external: checkKey },
  claims: { check: keyOfItsCheck },
  payments: { check: keyOfItsCheck },
  feedback: { check: keyOfItsCheck },
  endpoints: { status: ({ status }) => status },
  events: {},
  deliveries: { event: ({ event_id }) => event_id },
}

function keyOfItsCheck({ location_id, external_check_id }: Omit<OfCheck, 'check_id'>): string {
  return checkKey({ location_id, external_id: external_check_id })
}
