import type { Location } from '../model/location.ts'
import { put } from '../model/records.ts'
import { unchanged, type Operation } from './operation.ts'

interface AddLocations {
  locations: readonly Omit<Location, 'id' | 'created_at'>[]
}

function reads() {
  return { locations: { collection: 'locations', lookup: 'all', key: '' } } as const
}

/**
 * Adds the restaurant's locations, in order, to a new store (contract section 2). Returns the existing ones when there are
 * any: instances of a shared store may start together.
 */
export const addLocations = {
  reads,
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
} satisfies Operation<AddLocations, ReturnType<typeof reads>, Location[]>
