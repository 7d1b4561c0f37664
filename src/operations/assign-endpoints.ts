import { put } from '../model/records.ts'
import type { Operation } from './operation.ts'

interface AssignEndpoints {
  location_id: string
}

const reads = () =>
  ({
    enabled: { collection: 'endpoints', lookup: 'status', key: 'enabled' },
    disabled: { collection: 'endpoints', lookup: 'status', key: 'disabled' },
  }) as const

/**
 * Assigns this location to endpoints without one, which data directories of early versions contain (contract section
 * 2). Writes nothing when each endpoint has a location.
 */
export const assignEndpoints = {
  reads,
  decide({ enabled, disabled }, { location_id }) {
    const old = [...enabled, ...disabled].filter(
      (endpoint: { location_id?: string }) => !endpoint.location_id,
    )
    const writes = old.map((endpoint) => put('endpoints', { ...endpoint, location_id }))
    return { reply: old.length, writes, events: [] }
  },
} satisfies Operation<AssignEndpoints, ReturnType<typeof reads>, number>
