import { stateText } from '../model/simulator/state-text.ts'
import type { State } from '../model/simulator/state.ts'
import type { Body } from './transport.ts'

/** A JSON text that is sent as it is. */
export type JsonText = string | Uint8Array

/** A check, or its external id. */
export type CheckOrId = string | { readonly external_id: string }

/** A record of any other kind, or its id. */
export type RecordOrId = string | { readonly id: string }

/** A time: a `Date`, milliseconds since 1970, or an ISO 8601 text. */
export type TimeGiven = Date | number | string

/** The ISO 8601 text of a time; a text is left to the service to judge. @throws RangeError for an invalid Date or number. */
export function timeText(time: TimeGiven | undefined): string | undefined {
  return typeof time === 'string' || time === undefined ? time : new Date(time).toISOString()
}

export function externalIdOf(check: CheckOrId): string {
  return typeof check === 'string' ? check : check.external_id
}

export function idOf(record: RecordOrId): string {
  return typeof record === 'string' ? record : record.id
}

/** What is no JSON text yet becomes one. */
export function textOf(body: JsonText | object): JsonText {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
}

/** The same of a state, with a record a line; bytes that are still to come stay what they are. */
export function stateJson(state: JsonText | AsyncIterable<Uint8Array> | State): Body {
  if (typeof state === 'string' || state instanceof Uint8Array || Symbol.asyncIterator in state) return state
  return [...stateText(state)].join('')
}
