import { z } from 'zod'
import type { Everything } from './records.ts'
import { brokenRelations } from './state-relations.ts'
import { stateCollections, stateRecords, time, type StateCollection } from './state-records.ts'
import { invalid, validate } from './validation.ts'

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

/** The identifier that was made last, whatever it is of; `undefined` when there is nothing but locations. */
export function newestId({
  locations: _locations,
  ...records
}: Pick<Everything, StateCollection>): string | undefined {
  const newest = stateCollections.flatMap((name) =>
    name === 'locations'
      ? []
      : records[name].reduce((id, record) => (timePart(record.id) > timePart(id) ? record.id : id), ''),
  )
  return newest.reduce((one, other) => (timePart(other) > timePart(one) ? other : one), '') || undefined
}

function timePart(id: string): string {
  return id.slice(id.indexOf('_') + 1)
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
 * Reads a state, of this format or of format 1. Its records are those of the body: they are stored as they are.
 * @throws Refusal `validation_failed` with all issues of its records at once, and once these are right, with all between
 * them; with that of the version alone when it is another one.
 */
export function parseState(body: unknown): State {
  const state = isObject(body) ? upgraded(body) : body
  const { format } = (isObject(state) ? state : {}) as { format?: unknown }
  if (format !== undefined && format !== STATE_FORMAT)
    throw invalid([
      {
        path: 'format',
        message: `is ${JSON.stringify(format)?.slice(0, 40)}, and this version of Tabwire reads 1 and ${STATE_FORMAT}: load it with the version that saved it`,
      },
    ])
  validate(stateBody, state)
  const issues = brokenRelations(state as State)
  if (issues.length > 0) throw invalid(issues)
  return state as State
}
