import type { Location } from '../model/location.ts'
import { put } from '../model/records.ts'
import type { NoReads, Operation } from './operation.ts'

interface AddLocations {
  locations: readonly Omit<Location, 'id' | 'created_at'>[]
}

/** Adds the restaurant's locations, in order, to a new store (contract section 2). */
export const addLocations = {
  reads: () => ({}),
  decide(_records, command, { now, newId }) {
    const locations = command.locations.map((location) => ({
      id: newId('loc'),
      ...location,
      created_at: now.toISOString(),
    }))
    return { reply: locations, writes: locations.map((location) => put('locations', location)), events: [] }
  },
} satisfies Operation<AddLocations, NoReads, Location[]>
