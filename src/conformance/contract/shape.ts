import { isDeepStrictEqual } from 'node:util'
import type { Answer } from './ask.ts'

/** Finds things in JSON by their shape, since the specification does not show names and nesting of response fields. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value and everything inside it, each with the name it has in its object (`''` for the root and in lists). */
export function* nested(value: unknown, name = ''): Generator<{ name: string; value: unknown }> {
  yield { name, value }
  if (Array.isArray(value)) for (const one of value) yield* nested(one)
  else if (isObject(value)) for (const [key, one] of Object.entries(value)) yield* nested(one, key)
}

/** The value at property names joined by dots; `undefined` when there is none. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inside, name) => (isObject(inside) || Array.isArray(inside) ? Reflect.get(inside, name) : undefined),
      value,
    )
}

/** Whether there is a list anywhere in a JSON value. */
export function hasList(value: unknown): boolean {
  return [...nested(value)].some((one) => Array.isArray(one.value))
}

/** The text that begins with `whsec_` anywhere in a JSON value, or at `path`; `''` when there is none. */
export function secretIn(json: unknown, path?: string): string {
  const found = path === undefined ? [...nested(json)].map(({ value }) => value) : [at(json, path)]
  return found.find((value): value is string => typeof value === 'string' && value.startsWith('whsec_')) ?? ''
}

/**
 * What may be the id of an endpoint in the answer to its registration, most likely first: fields named like an id, the end
 * of `Location`, then other texts and numbers without white space.
 */
export function idCandidates({ json, headers }: Pick<Answer, 'json' | 'headers'>, path?: string): string[] {
  if (path !== undefined) return isId(at(json, path)) ? [String(at(json, path))] : []
  const all = [...nested(json)].filter(({ value }) => isId(value))
  const named = (pattern: RegExp) =>
    all.filter(({ name }) => pattern.test(name)).map(({ value }) => String(value))
  const location = /([^/?#]+)\/?(?:[?#].*)?$/.exec(String(headers.location ?? ''))?.[1]
  return [
    ...new Set([
      ...named(/^(id|_id|uuid|uid)$/i),
      ...(location === undefined ? [] : [decodeURIComponent(location)]),
      ...named(/(id|uuid|key|name|ref|handle)$/i),
      ...named(/./),
    ]),
  ].slice(0, 12)
}

function isId(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0
  return (
    typeof value === 'string' &&
    /^[^\s/]{1,255}$/.test(value) &&
    !value.startsWith('whsec_') &&
    !isTime(value)
  )
}

/** How the fields of a check are named, where a profile says so. */
export interface CheckFields {
  items?: string | undefined
  external_id?: string | undefined
}

/** The entry of each of these items in a check: in the list that a profile names, one called `items`, or the longest. */
export function itemEntries(
  check: unknown,
  ids: readonly string[],
  { items, external_id }: CheckFields = {},
): ReadonlyMap<string, readonly unknown[]> {
  const isItem = (value: unknown, id: string) =>
    isObject(value) &&
    (external_id === undefined ? Object.values(value).includes(id) : at(value, external_id) === id)
  const entriesOf = (list: unknown) => {
    const entries = new Map<string, unknown[]>()
    for (const id of ids) {
      const found = Array.isArray(list)
        ? list.filter((one) => isItem(one, id))
        : isObject(list) && id in list
          ? [list[id]]
          : []
      if (found.length > 0) entries.set(id, found)
    }
    return entries
  }
  if (items !== undefined) return entriesOf(at(check, items))
  const lists = [...nested(check)].filter(({ value }) => Array.isArray(value) || isObject(value))
  const found = lists.map(({ name, value }) => ({ name, entries: entriesOf(value) }))
  const best = found.filter(({ entries }) => entries.size > 0)
  const called = best.find(({ name }) => name === 'items')
  return (called ?? best.sort((one, other) => other.entries.size - one.entries.size)[0])?.entries ?? new Map()
}

/** Whether an entry says of itself that its item is gone, as services do that keep removed items in the list. */
export function isRemoved(entry: unknown): boolean {
  return (
    isObject(entry) &&
    Object.entries(entry).some(([name, value]) =>
      /remov|delet|void|cancel/i.test(name)
        ? value !== false && value !== null && value !== 0
        : (name === 'quantity' && value === 0) ||
          /^(removed|deleted|void(ed)?|cancell?ed)$/i.test(String(value)),
    )
  )
}

/** A value without times, which may differ between two answers that mean the same. */
export function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless)
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, timeless(one)]))
  return isTime(value) ? 'time' : value
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/
const YEARS = 5 * 365 * 86_400

/** Whether a value is an ISO time, or unix seconds or milliseconds near now. */
export function isTime(value: unknown): boolean {
  if (typeof value === 'string') return TIME.test(value)
  if (typeof value !== 'number') return false
  const now = Date.now() / 1000
  return Math.abs(value - now) < YEARS || Math.abs(value / 1000 - now) < YEARS
}

/** Where two values differ first, as a path for people; `undefined` when they are the same. */
export function difference(one: unknown, other: unknown, path = ''): string | undefined {
  if (isDeepStrictEqual(one, other)) return undefined
  const inside = (name: string) => {
    const [left, right] = [one, other].map((value) => Reflect.get(value as object, name) as unknown)
    return difference(left, right, path === '' ? name : `${path}.${name}`)
  }
  const bothObjects = isObject(one) && isObject(other)
  if (bothObjects || (Array.isArray(one) && Array.isArray(other))) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    for (const name of names) {
      const found = inside(name)
      if (found !== undefined) return found
    }
  }
  return path === '' ? 'the whole body' : path
}

/** A value and the objects nested in it, down to `depth`: one of them is the resource, whatever it is wrapped in. */
export function unwrapped(value: unknown, depth = 2): unknown[] {
  if (!isObject(value)) return [value]
  if (depth === 0) return [value]
  return [
    value,
    ...Object.values(value)
      .filter(isObject)
      .flatMap((one) => unwrapped(one, depth - 1)),
  ]
}
