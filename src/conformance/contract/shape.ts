import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../model/validation.ts'
import type { ServiceResponse } from './ask.ts'

// Finds values in JSON by their shape: the specification does not show the names and nesting of response fields.

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

/** The usual names of a list of records in an answer. */
const LIST =
  /location|venue|site|store|outlet|branch|restaurant|data|result|item|row|list|record|entr|element|content|member|value/i

/** Values of a field `error` that mean success, besides the empty list. */
const SUCCESS: readonly unknown[] = [null, false, '', 0]

/**
 * Returns true when there is a list of records anywhere in a JSON value: an array, or objects under their ids. Arrays in an
 * error object do not count. In an object with an id, an array counts when its name or its records look like a list.
 */
export function hasList(value: unknown): boolean {
  if (Array.isArray(value)) return true
  if (!isObject(value)) return false
  const entries = Object.entries(value)
  const isError = entries.some(([name, one]) => /^errors?$/i.test(name) && !meansSuccess(one))
  if (!isError && entries.length > 0 && entries.every(([, one]) => isObject(one))) return true
  const isRecord = entries.some(([name, one]) => /^_?(id|uuid|uid)$/i.test(name) && !Array.isArray(one))
  return entries.some(([name, one]) => {
    if (!Array.isArray(one)) return hasList(one)
    return !isError && (!isRecord || LIST.test(name) || one.some(isObject))
  })
}

function meansSuccess(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : SUCCESS.includes(value)
}

/** The texts that begin with `whsec_` anywhere in a JSON value, or the one at `path`: one of them is the secret. */
export function secretsIn(json: unknown, path?: string): string[] {
  const found = path === undefined ? [...nested(json)].map(({ value }) => value) : [at(json, path)]
  const isSecret = (value: unknown): value is string =>
    typeof value === 'string' && value.startsWith('whsec_')
  return [...new Set(found.filter(isSecret))]
}

/**
 * Returns candidates for an endpoint's id in the answer to its registration, most likely first: fields named like an
 * id, the end of `Location` and of links to endpoints, then other texts and numbers.
 */
export function idCandidates(
  { json, headers, text }: Pick<ServiceResponse, 'json' | 'headers' | 'text'>,
  path?: string,
): string[] {
  // JSON.parse rounds numbers of 64 bits, so their digits are read from the text.
  const long = [...text.matchAll(/[:[,]\s*(\d{16,20})(?=\s*[,}\]])/g)].map(([, digits = '']) => digits)
  const idsIn = (value: unknown) =>
    isId(value) ? [String(value)] : long.filter((digits) => Number(digits) === value)
  if (path !== undefined) return idsIn(at(json, path))
  const all = [...nested(json)]
  const named = (pattern: RegExp) =>
    all.filter(({ name }) => pattern.test(name)).flatMap(({ value }) => idsIn(value))
  const links = [String(headers.location ?? ''), ...all.map(({ value }) => String(value))]
  const linked = links.flatMap((link) => /\/webhook-endpoints\/([^/?#\s]+)/.exec(link)?.[1] ?? [])
  const [location] = /[^/?#]+(?=\/?([?#].*)?$)/.exec(String(headers.location ?? '')) ?? []
  const candidates = [
    ...named(/^(id|_id|uuid|uid)$/i),
    ...[...linked, ...(location === undefined ? [] : [location])].map(decoded),
    ...named(/(id|uuid|key|name|ref|handle)$/i),
    ...named(/^/),
  ]
  return [...new Set(candidates)].slice(0, 12)
}

function isId(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0
  if (typeof value !== 'string' || value === '' || value.length > 255) return false
  // A lone surrogate cannot be sent.
  return !/^(whsec_|https?:)|\p{Surrogate}/u.test(value) && !isTime(value)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Field names of a check in a profile. */
interface CheckFields {
  items?: string | undefined
  external_id?: string | undefined
}

/** Returns true when a list somewhere inside holds the id. */
function hasInList(value: unknown, id: string): boolean {
  return [...nested(value)].some((one) => Array.isArray(one.value) && holds(one.value, id))
}

/** Returns true for an item whose external id is in an object of its own, such as `attributes`. */
function holdsWithin(item: object, id: string): boolean {
  return Object.values(item).some((one: unknown) => isObject(one) && Object.values(one).includes(id))
}

/** The entries of items, by their external id. */
export type Entries = ReadonlyMap<string, readonly unknown[]>

/**
 * Returns the entries of these items, by the name of their list: the list of the profile, otherwise each one that holds one of
 * the items. A check may have several lists of a name, such as one for each seat.
 */
export function itemLists(
  check: unknown,
  ids: readonly string[],
  { items, external_id }: CheckFields = {},
): ReadonlyMap<string, Entries> {
  const isItem = (value: unknown, id: string) => {
    if (!isObject(value)) return false
    if (external_id !== undefined) return at(value, external_id) === id
    const values = Object.values(value)
    if (values.includes(id)) return true
    // An entry with an id of its own may also refer to another item.
    return !ids.some((other) => values.includes(other)) && holdsWithin(value, id)
  }
  const entriesOf = (list: unknown, id: string): unknown[] =>
    Array.isArray(list)
      ? (list as unknown[]).filter((one) => isItem(one, id))
      : isObject(list) && id in list
        ? [list[id]]
        : []
  const lists =
    items === undefined
      ? [...nested(check)]
      : (listsAt(check, items) ?? []).map((value) => ({ name: 'items', value }))
  const byName = new Map<string, Map<string, unknown[]>>()
  for (const { name, value } of lists)
    for (const id of ids) {
      const found = entriesOf(value, id)
      if (found.length === 0) continue
      const entries = byName.get(name) ?? new Map<string, unknown[]>()
      byName.set(name, entries.set(id, [...(entries.get(id) ?? []), ...found]))
    }
  return byName
}

/**
 * The lists at property names joined by dots, through lists on the way: `courses.dishes` has one for each course. Returns
 * `undefined` where the value has no such path.
 */
export function listsAt(value: unknown, path: string): unknown[] | undefined {
  let inside: unknown[] = [value]
  for (const name of path.split('.')) {
    const around = inside.flat()
    inside = around.flatMap((one) => (isObject(one) && name in one ? [one[name]] : []))
    // Without courses there are no dishes, so the path is not wrong.
    if (inside.length === 0) return around.length === 0 ? [] : undefined
  }
  return inside.every((one) => Array.isArray(one) || isObject(one)) ? inside : undefined
}

const REMOVED_FIELD =
  /^(is_?|was_?)?(removed|deleted|void(ed)?|cancell?ed)(_?(at|on|by|date|time|timestamp))?$/i
/** Texts of values that mean no, with the empty list and the zero times of databases and languages. */
const NO = /^(|0|n|no|f|false|off|none|null|(0000-00-00|0001-01-01|1970-01-01)([T ].*)?)$/i

/** Returns true when an entry says of itself that its item is gone, as services do that keep removed items in the list. */
export function isRemoved(entry: unknown): boolean {
  return (
    isObject(entry) &&
    Object.entries(entry).some(([name, value]) =>
      REMOVED_FIELD.test(name)
        ? !NO.test(String(value))
        : (/^(quantity|qty|count)$/i.test(name) && value === 0) ||
          (/^(is_?)?active$/i.test(name) && value === false) ||
          (typeof value === 'string' && /^(removed|deleted|inactive|void(ed)?|cancell?ed)$/i.test(value)),
    )
  )
}

/** A value without times, which may differ between two answers that mean the same. */
export function timeless(value: unknown): unknown {
  if (isTime(value) || isOtherTime(value)) return 'time'
  if (Array.isArray(value)) return value.map(timeless)
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, timeless(one)]))
  return value
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/
const YEARS = 5 * 365 * 86_400

/** Returns true when a value is an ISO time, or unix seconds or milliseconds near now. */
export function isTime(value: unknown): boolean {
  if (typeof value === 'string') return TIME.test(value)
  if (typeof value !== 'number') return false
  const now = Date.now() / 1000
  return Math.abs(value - now) < YEARS || Math.abs(value / 1000 - now) < YEARS
}

/**
 * Returns true for a time in a rarer form: an HTTP date, unix microseconds or nanoseconds, digits as text, or a list of year,
 * month, day, hour and minute.
 */
function isOtherTime(value: unknown): boolean {
  if (typeof value === 'number') return isTime(value / 1e6) || isTime(value / 1e9)
  if (typeof value === 'string')
    return /^\d{10,19}$/.test(value)
      ? isTime(Number(value)) || isOtherTime(Number(value))
      : /\d:\d\d/.test(value) && isTime(Date.parse(value))
  return (
    Array.isArray(value) &&
    value.length >= 5 &&
    value.length <= 7 &&
    value.every((part) => Number.isInteger(part)) &&
    Math.abs(Number(value[0]) - new Date().getFullYear()) <= 5
  )
}

/** Returns the paths at which two values differ. */
export function differences(one: unknown, other: unknown, path = ''): string[] {
  if (isDeepStrictEqual(one, other)) return []
  const bothObjects = isObject(one) && isObject(other)
  if (!bothObjects && !(Array.isArray(one) && Array.isArray(other)))
    return [path === '' ? 'the whole body' : path]
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.flatMap((name) => {
    const [left, right] = [one, other].map((value) => Reflect.get(value, name) as unknown)
    return differences(left, right, path === '' ? name : `${path}.${name}`)
  })
}

/**
 * A value and the objects nested in it, down to `depth`: one of them is the resource, whatever it is wrapped in. A list of one
 * is such a wrapping.
 */
function unwrapped(value: unknown, depth = 3): unknown[] {
  if (Array.isArray(value)) return value.length === 1 ? unwrapped(value[0], depth) : []
  if (!isObject(value)) return []
  if (depth === 0) return [value]
  return [value, ...Object.values(value).flatMap((one) => unwrapped(one, depth - 1))]
}

/**
 * Returns candidates for the check in an answer or in an event's data: the objects around an item, other than its own
 * and that of a map of items. Where some of them name the check, only those.
 */
export function checkCandidates(value: unknown, checkId: string, itemId: string): unknown[] {
  const around = unwrapped(value).filter(
    (one) =>
      isObject(one) &&
      !(itemId in one) &&
      !Object.values(one).includes(itemId) &&
      // A check that has the item in a list may also name it in an object, such as the last change.
      (hasInList(one, itemId) || !holdsWithin(one, itemId)) &&
      JSON.stringify(one).includes(itemId),
  )
  const naming = around.filter((one) => JSON.stringify(one).includes(JSON.stringify(checkId)))
  return naming.length > 0 ? naming : around
}

/** Returns true when a value stands anywhere inside another. */
export function holds(inside: unknown, value: unknown): boolean {
  return [...nested(inside)].some((one) => one.value === value)
}

/** A text with its letters of the alphabet in the other case. */
export function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()))
}
