import { inStoredForm, type StoredEvent } from '../model/event.ts'
import type { CollectionName, Collections } from '../model/records.ts'

/**
 * Returns the JSON of a record for the files. The body of an event is embedded as JSON, not as an escaped string: people can
 * read it, and escaping would take longer than all other writing of a push.
 */
export function recordJson<C extends CollectionName>(collection: C, record: Collections[C]): string {
  return collection === 'events' ? eventJson(record as StoredEvent) : JSON.stringify(record)
}

function eventJson(event: StoredEvent): string {
  return `${eventHeadJson(event).slice(0, -1)},"body":${event.body}}`
}

/** Returns the JSON of an event without its body. */
export function eventHeadJson(event: StoredEvent): string {
  const { id, type, created_at, external_check_id, traceparent, tracestate } = event
  return JSON.stringify({ id, type, created_at, external_check_id, traceparent, tracestate })
}

/**
 * Validates a parsed record; `undefined` when it is not one. The body of an event becomes text again, the same as it was,
 * since `JSON.stringify` wrote it; an edited body is normalised.
 */
export function recordFrom(collection: string | undefined, value: unknown): { id: string } | undefined {
  if (!hasId(value)) return undefined
  if (collection !== 'events') return value
  const { body } = value as { body?: unknown }
  const text = typeof body === 'string' ? inStoredForm(body) : (JSON.stringify(body) as string | undefined)
  return text === undefined ? undefined : Object.assign(value, { body: text })
}

function hasId(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}
