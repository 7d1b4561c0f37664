import type { ApiKey } from '../model/api-key.ts'
import type { Location } from '../model/location.ts'
import { type Everything, noRecords } from '../model/records.ts'
import type { State } from '../model/simulator/state.ts'

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
