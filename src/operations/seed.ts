import type { Location } from '../model/location.ts'
import { put } from '../model/records.ts'
import { type Operation, unchanged } from './operation.ts'

interface AddLocations {
  locations: readonly Omit<Location, 'id' | 'created_at'>[]
}

function readsLocations() {
  return { locations: { collection: 'locations', lookup: 'all', key: '' } } as const
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
    enabled: { collection: 'endpoints', lookup: 'status', key: 'enabled' },
    disabled: { collection: 'endpoints', lookup: 'status', key: 'disabled' },
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
