import type { ApiKey } from '../model/api-key.ts'
import { type Location, type Everything, noRecords, put } from '../model/records.ts'
import type { State } from '../model/simulator/state.ts'
import { type Operation, unchanged } from './operation.ts'

interface AddLocations {
  locations: readonly Omit<Location, 'id' | 'created_at'>[]
}

function readsLocations() {
  return { locations: { collection: 'locations', index: 'all', key: '' } } as const
}

/**
 * Adds the restaurant's locations, in order, to a new store (contract section 2). Returns the existing ones when there are
 * any: instances of a shared store may start together.
 */
export const addLocations = {
  reads: readsLocations,
  decide(records, command, { now, newId }) {
    const existing = [...records.locations]
    if (existing.length > 0) return unchanged(existing)
    const locations = command.locations.map((location) => ({
      id: newId('loc'),
      ...location,
      created_at: now.toISOString(),
    }))
    return { reply: locations, writes: locations.map((location) => put('locations', location)), events: [] }
  },
} satisfies Operation<AddLocations, ReturnType<typeof readsLocations>, Location[]>

interface AssignEndpoints {
  location_id: string
}

const readsEndpoints = () =>
  ({
    enabled: { collection: 'endpoints', index: 'status', key: 'enabled' },
    disabled: { collection: 'endpoints', index: 'status', key: 'disabled' },
  }) as const

/**
 * Assigns this location to endpoints without one, which data directories of early versions contain (contract section
 * 2). Writes nothing when each endpoint has a location.
 */
export const assignEndpoints = {
  reads: readsEndpoints,
  decide({ enabled, disabled }, { location_id }) {
    const old = [...enabled, ...disabled].filter(
      (endpoint: { location_id?: string }) => !endpoint.location_id,
    )
    const writes = old.map((endpoint) => put('endpoints', { ...endpoint, location_id }))
    return { reply: old.length, writes, events: [] }
  },
} satisfies Operation<AssignEndpoints, ReturnType<typeof readsEndpoints>, number>

/**
 * `PUT /_sim/state`: replaces all data but the API keys, so that no caller is locked out. A key whose location is
 * missing gets the location of the same name, otherwise the first (contract section 10).
 */
export function loadState({ format: _format, clock: _clock, ...records }: State) {
  return ({ keys, locations }: Everything): Everything => ({
    ...records,
    keys: keys.map((key) => rehomeKey(key, locations, records.locations)),
  })
}

function rehomeKey(key: ApiKey, before: readonly Location[], after: readonly Location[]): ApiKey {
  if (after.some(({ id }) => id === key.location_id)) return key
  const name = before.find(({ id }) => id === key.location_id)?.name
  const first = after.reduce((one, other) => (one.id <= other.id ? one : other))
  const { id: location_id } = after.find((location) => location.name === name) ?? first
  return { ...key, location_id }
}

/** `POST /_sim/reset`: removes everything but the locations and the API keys (contract section 10). */
export function resetState({ locations, keys }: Everything): Everything {
  return { ...noRecords, locations, keys }
}
