import type { Delivery } from '../delivery.ts'
import type { CollectionName, Everything } from '../records.ts'

/** Collections of a state. API keys are left out, because loading others would lock the caller out. */
export type StateCollection = Exclude<CollectionName, 'keys'>

const inState: Readonly<Record<StateCollection, true>> = {
  locations: true,
  checks: true,
  claims: true,
  payments: true,
  feedback: true,
  endpoints: true,
  events: true,
  deliveries: true,
}

export const stateCollections = Object.keys(inState) as StateCollection[]

/** Format of a state. Increases when older versions of Tabwire can no longer read it. */
export const STATE_FORMAT = 2

/** All data of a service, signing secrets included, and the time of its clock; no API keys. */
export interface State extends Pick<Everything, StateCollection> {
  format: number
  clock: StateClock
}

/** Time of the clock, and whether it is frozen. */
interface StateClock {
  now: string
  frozen: boolean
}

/** Result of a load or a reset. */
export interface StateReport {
  clock: StateClock & { offset_ms: number }
  /** Number of records, by collection. */
  records: Readonly<Record<StateCollection, number>>
  /** Number of pending deliveries. */
  pending: number
}

/** Returns the state with these records, the most readable collections first. */
export function stateOf({ keys: _keys, ...records }: Everything, { now, frozen }: StateClock): State {
  const deliveries = records.deliveries.map(withoutOffer)
  return { format: STATE_FORMAT, clock: { now, frozen }, ...records, deliveries }
}

/** Ends the attempt in flight: it is made again after a load. */
function withoutOffer(delivery: Delivery): Delivery {
  if (delivery.offer === undefined) return delivery
  const { offer: _offer, ...rest } = delivery
  return rest
}

/** Counts the records of a state. */
export function countsOf(records: Pick<Everything, StateCollection>): Omit<StateReport, 'clock'> {
  const counts = stateCollections.map((name) => [name, records[name].length])
  return {
    records: Object.fromEntries(counts) as StateReport['records'],
    pending: records.deliveries.filter(({ status }) => status === 'pending').length,
  }
}

/** Returns the newest identifier except those of locations; `undefined` when the state has only locations. */
export function newestId(state: Pick<Everything, StateCollection>): string | undefined {
  let newest = { id: '', time: '' }
  for (const name of stateCollections)
    if (name !== 'locations')
      for (const { id } of state[name]) {
        const time = id.slice(id.indexOf('_') + 1)
        if (time > newest.time) newest = { id, time }
      }
  return newest.id || undefined
}
