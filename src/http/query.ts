import { didYouMean } from '../model/text/did-you-mean.ts'
import { Refusal } from '../model/refusal.ts'
import type { Route } from './route.ts'

const LIMIT = { default: 20, max: 100 }

/** Longest query name that an error repeats, in UTF-16 units. */
const LONGEST_NAME = 100

/** @throws Refusal `invalid_query` for a name that a route does not take: ignored, it would look like an applied filter. */
export function requireKnownNames(query: URLSearchParams, { query: taken = {} }: Pick<Route, 'query'>): void {
  const known = Object.keys(taken)
  for (const name of query.keys()) {
    if (known.includes(name)) continue
    const given = name.slice(0, LONGEST_NAME)
    const takes = known.length === 0 ? 'no query parameters' : known.join(', ')
    throw new Refusal(
      'invalid_query',
      `Unknown query parameter ${JSON.stringify(given)}${didYouMean(given, known) || '.'} This path takes ${takes}.`,
    )
  }
}

/** Reads `?limit=` (1–100, default 20) and `?cursor=` (contract section 3). */
export function pageOf(query: URLSearchParams): { limit: number; after: string | undefined } {
  const limit = query.get('limit')
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= LIMIT.max))
    throw new Refusal('invalid_query', `limit must be a whole number from 1 to ${LIMIT.max}.`)
  return { limit: limit === null ? LIMIT.default : Number(limit), after: readCursor(query.get('cursor')) }
}

/** Reads `?order=`: `desc`, the newest first, as lists are without it, or `asc`. A cursor goes on in the order asked for. */
export function orderOf(query: URLSearchParams): 'asc' | 'desc' | undefined {
  return choiceOf(query, 'order', ['asc', 'desc'])
}

/** The cursor that continues after a record: opaque to callers, so that paging may change beneath them. */
export function cursorAfter(id: string): string {
  return Buffer.from(id).toString('base64url')
}

function readCursor(cursor: string | null): string | undefined {
  if (cursor === null) return undefined
  const id = Buffer.from(cursor, 'base64url').toString()
  if (/^[a-z]{2,3}_[0-9A-Z]{26}$/.test(id) && cursorAfter(id) === cursor) return id
  throw new Refusal(
    'invalid_query',
    'cursor is not one that this service gave. Pass next_cursor of the page before it.',
  )
}

/** As long as an external id may be. */
const LONGEST_SEARCH = 255

/** Reads `?q=`, a text to look for; without one, or an empty one, nothing is looked for. */
export function searchOf(query: URLSearchParams): string | undefined {
  const text = query.get('q') ?? ''
  if (text.length <= LONGEST_SEARCH) return text === '' ? undefined : text
  throw new Refusal('invalid_query', `q must be at most ${LONGEST_SEARCH} characters long.`)
}

/** Reads `?q=` for a list whose records are searched in these fields; where there are none, it is not read. */
export function searchIn(
  fields: readonly string[],
  query: URLSearchParams,
): { text: string; fields: readonly string[] } | undefined {
  const text = fields.length === 0 ? undefined : searchOf(query)
  return text === undefined ? undefined : { text, fields }
}

/** Reads `?name=` as one of a few words. */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const choice = choices.find((word) => word === given)
  if (choice === undefined)
    throw new Refusal('invalid_query', `${name} must be one of ${choices.join(', ')}.`)
  return choice
}

/** Reads `?name=` as a time, in the form that stored times have and can be compared with as texts. */
export function timeOf(query: URLSearchParams, name: string): string | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const time = new Date(/^\d{4}-/.test(given) ? given : NaN)
  if (!Number.isNaN(time.getTime())) return time.toISOString()
  throw new Refusal('invalid_query', `${name} must be an ISO 8601 time, such as 2026-11-21T18:00:00Z.`)
}

/** Decodes a path parameter, once: h3 hands it over as it stands in the URL. */
export function decodeParam(name: string, raw: string): string {
  try {
    return decodeURIComponent(raw)
  } catch {
    throw new Refusal(
      'invalid_path',
      `${name} holds a malformed percent-escape. Encode it as UTF-8, each byte as %XX.`,
    )
  }
}

/** An external check id: 1–255 characters, no control character (contract section 4). */
export function externalId(id: string): string {
  // Characters are counted as in bodies: one of two UTF-16 units is one.
  if (id.length >= 1 && (id.length <= 255 || Array.from(id).length <= 255) && !/\p{Cc}/u.test(id)) return id
  throw new Refusal(
    'invalid_path',
    'external_check_id must be 1 to 255 characters long, without control characters.',
  )
}

/** The external id in a path below `/v1/checks/external/`, or in one of the guests'; `undefined` when there is none. */
export function externalIdIn(path: string): string | undefined {
  const raw = /^\/(?:v1\/checks\/external|_sim\/checks)\/([^/?]+)/.exec(path)?.[1]
  try {
    return raw === undefined ? undefined : decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

/** A filter of a list without those that were not asked for. */
export function given(filter: Record<string, string | null | undefined>): Record<string, string> {
  const entries = Object.entries(filter).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(entries)
}
