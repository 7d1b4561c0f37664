import type { StoredEvent } from '../model/event.ts'
import type { CollectionName, Collections } from '../model/records.ts'

/**
 * A record as the files hold it. An event's body, JSON itself, stands there as it is: people can read it, and it is not
 * escaped, which takes longer than all else that is written of a push.
 */
export function recordJson<C extends CollectionName>(collection: C, record: Collections[C]): string {
  return collection === 'events' ? eventJson(record as StoredEvent) : JSON.stringify(record)
}

function eventJson(event: StoredEvent): string {
  return `${eventHeadJson(event).slice(0, -1)},"body":${event.body}}`
}

/** An event without its body. */
export function eventHeadJson({ id, type, created_at, external_check_id }: StoredEvent): string {
  return JSON.stringify({ id, type, created_at, external_check_id })
}

/**
 * The record that was read, or `undefined` when it is none. What `JSON.stringify` once wrote it writes again to the
 * letter, so the body of an event is what it was; one that somebody has written otherwise becomes what it would write.
 */
export function recordFrom(collection: string | undefined, value: unknown): { id: string } | undefined {
  if (!hasId(value)) return undefined
  if (collection !== 'events') return value
  const { body } = value as { body?: unknown }
  const text = typeof body === 'string' ? rewritten(body) : (JSON.stringify(body) as string | undefined)
  return text === undefined ? undefined : Object.assign(value, { body: text })
}

function rewritten(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}

function hasId(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}
