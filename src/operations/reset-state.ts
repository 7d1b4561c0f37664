import { noRecords, type Everything } from '../model/records.ts'

/** `POST /_sim/reset`: a fresh store, but for its locations and the keys to it (contract section 10). */
export function resetState({ locations, keys }: Everything): Everything {
  return { ...noRecords, locations, keys }
}
