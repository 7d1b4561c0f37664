import { z } from 'zod'
import type { Everything } from '../records.ts'
import { stateCollections, stateRecords, time, type StateCollection } from './state-records.ts'
import { invalid, issuesOf, type ValidationIssue } from '../validation.ts'

/** Goes up when older versions of Tabwire could no longer read a state. */
export const STATE_FORMAT = 2

/** Everything that a service knows, signing secrets included, and the time that it lives by; no API keys. */
export interface State extends Pick<Everything, StateCollection> {
  format: number
  clock: StateClock
}

/** Where a clock stands, and whether it stays there. */
export interface StateClock {
  now: string
  frozen: boolean
}

/** What a service came to by a load or a reset. */
export interface StateReport {
  clock: StateClock & { offset_ms: number }
  /** How many records there are now, by collection. */
  records: Readonly<Record<StateCollection, number>>
  /** Of the deliveries, how many are on their way. */
  pending: number
}

/** The state of a service with these records; in the order in which a reader wants to see them. */
export function stateOf({ keys: _keys, ...records }: Everything, { now, frozen }: StateClock): State {
  return { format: STATE_FORMAT, clock: { now, frozen }, ...records }
}

/** How much there is in a state. */
export function countsOf(records: Pick<Everything, StateCollection>): Omit<StateReport, 'clock'> {
  const counts = stateCollections.map((name) => [name, records[name].length])
  return {
    records: Object.fromEntries(counts) as StateReport['records'],
    pending: records.deliveries.filter(({ status }) => status === 'pending').length,
  }
}

/** The identifier that was made last, of whatever kind; `undefined` when there is nothing but locations. */
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

const collections = Object.fromEntries(
  Object.entries(stateRecords).map(([name, record]) => [name, z.array(record)]),
) as { [C in StateCollection]: z.ZodArray<(typeof stateRecords)[C]> }

/** A retry needs room behind the time at which it is planned, and years have four digits. */
const clock = z.strictObject({
  now: time.refine((text) => text >= '1970' && text < '9999', 'must be of a year from 1970 to 9998'),
  frozen: z.boolean(),
})

/** What `GET /_sim/state` answers, and what a body of `PUT` is read as. */
export const stateBody = z.strictObject({
  format: z.literal(STATE_FORMAT),
  clock,
  ...collections,
  locations: z.array(stateRecords.locations).min(1),
})

/** A state whose records may be anything. */
const stateWithoutRecords = stateBody.extend({
  ...Object.fromEntries(stateCollections.map((name) => [name, z.array(z.unknown())])),
  locations: z.array(z.unknown()).min(1),
})

/** What `PUT /_sim/state` takes: also states of format 1, which lack what came with format 2 and before it. */
export const savedStateBody: z.ZodType = stateBody
  .extend({
    format: z.literal([1, STATE_FORMAT]),
    endpoints: z.array(stateRecords.endpoints.partial({ location_id: true })),
  })
  .partial({ payments: true, feedback: true })

/** A state with what earlier versions did not save: payments, feedback, and the location of its endpoints, the first one. */
function upgraded(state: Readonly<Record<string, unknown>>): unknown {
  const { format, locations, endpoints } = state
  return {
    payments: [],
    feedback: [],
    ...state,
    ...(format === 1 && { format: STATE_FORMAT }),
    ...(Array.isArray(endpoints) && { endpoints: withLocation(endpoints, firstLocation(locations)) }),
  }
}

function withLocation(endpoints: readonly unknown[], location_id: string | undefined): unknown[] {
  return endpoints.map((endpoint) =>
    isObject(endpoint) && !('location_id' in endpoint)
      ? { id: endpoint.id, location_id, ...endpoint }
      : endpoint,
  )
}

function firstLocation(locations: unknown): string | undefined {
  const all: unknown[] = Array.isArray(locations) ? locations : []
  return all.flatMap((location) => (isObject(location) ? String(location.id) : [])).sort()[0]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A body in the present format, if it is one of format 1. @throws Refusal `validation_failed` when it is of another one.
 */
export function inPresentFormat(body: unknown): unknown {
  const state = isObject(body) ? upgraded(body) : body
  const { format } = (isObject(state) ? state : {}) as { format?: unknown }
  if (format === undefined || format === STATE_FORMAT) return state
  const message = `is ${JSON.stringify(format)?.slice(0, 40)}, and this version of Tabwire reads 1 and ${STATE_FORMAT}: load it with the version that saved it`
  throw invalid([{ path: 'format', message }])
}

/** The issues of the state without its records, then those of each record. */
export function* issuesOfRecords(state: unknown): Iterable<readonly ValidationIssue[]> {
  yield issuesOf(stateWithoutRecords, state, [])
  if (!isObject(state)) return
  for (const name of stateCollections) {
    const records: unknown = state[name]
    if (Array.isArray(records))
      for (const [index, record] of records.entries())
        yield issuesOf(stateRecords[name], record, [name, index])
  }
}
