import { didYouMean } from '../model/text/advice.ts'
import { localTimeIssue, parseTime } from '../model/text/time.ts'
import { eventTypesAndPing, type EventType } from '../model/event.ts'
import { Refusal } from '../model/refusal.ts'
import { type Route, ok, type Call, type QueryOf, type Reply } from './route.ts'
import type { Delivery } from '../model/delivery.ts'
import type { CollectionName, Collections } from '../model/records.ts'
import { pageLimit, type PageQuery, type SimPageQuery } from '../model/simulator/list-queries.ts'
import type { Service } from '../service.ts'

/** Longest query name or value that an error repeats, in UTF-16 units. */
const LONGEST_SHOWN = 100

function shown(given: string): string {
  return JSON.stringify(given.slice(0, LONGEST_SHOWN))
}

/** @throws Refusal `invalid_query` for an unknown name, because an ignored filter would look applied. */
export function requireKnownNames(query: URLSearchParams, { query: taken = {} }: Pick<Route, 'query'>): void {
  const known = Object.keys(taken)
  for (const name of query.keys()) {
    if (known.includes(name)) continue
    const given = name.slice(0, LONGEST_SHOWN)
    const takes = known.length === 0 ? 'no query parameters' : known.join(', ')
    throw new Refusal(
      'invalid_query',
      `Unknown query parameter ${JSON.stringify(given)}${didYouMean(given, known) || '.'} This path accepts ${takes}.`,
    )
  }
}

/**
 * Requires that the percent-escapes of a query are UTF-8: parsers replace others by U+FFFD, so that a filter would search for
 * another text. @throws Refusal `invalid_query`
 */
export function requireDecodable(query: string): void {
  if (isDecodable(query)) return
  throw new Refusal(
    'invalid_query',
    'The query contains a malformed percent-escape. Encode each UTF-8 byte as %XX, and % itself as %25.',
  )
}

/** Uses the result: the bundler removes a call with an unused result, and with it the error that the call throws. */
function isDecodable(query: string): boolean {
  try {
    return decodeURIComponent(query).length <= query.length
  } catch {
    return false
  }
}

/** Prefixes of the ids that the cursors of each list contain. */
const prefixes: Readonly<Record<CollectionName | 'requests', string>> = {
  locations: 'loc',
  keys: 'key',
  checks: 'chk',
  claims: 'clm',
  payments: 'pay',
  feedback: 'fbk',
  endpoints: 'we',
  events: 'evt',
  deliveries: 'dlv',
  requests: 'req',
}

/** Reads `?limit=` (1–100, default 20) and `?cursor=`, a cursor of the same list (contract section 3). */
export function pageQueryOf(
  query: URLSearchParams,
  list: keyof typeof prefixes,
): { limit: number; after: string | undefined } {
  const limit = query.get('limit')
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= pageLimit.max))
    throw new Refusal(
      'invalid_query',
      `limit must be a whole number from 1 to ${pageLimit.max}, got ${shown(limit)}.`,
    )
  return {
    limit: limit === null ? pageLimit.default : Number(limit),
    after: readCursor(query.get('cursor'), list),
  }
}

/** Reads `?order=`: `desc` for newest first (the default) or `asc`. Cursors follow this order. */
export function orderOf(query: URLSearchParams): 'asc' | 'desc' | undefined {
  return choiceOf(query, 'order', ['asc', 'desc'])
}

/** Returns the cursor after a record. It is opaque, so that paging can change. */
function cursorAfter(id: string): string {
  return Buffer.from(id).toString('base64url')
}

function readCursor(cursor: string | null, list: keyof typeof prefixes): string | undefined {
  if (cursor === null) return undefined
  const id = Buffer.from(cursor, 'base64url').toString()
  if (/^[a-z]{2,3}_[0-9A-Z]{26}$/.test(id) && cursorAfter(id) === cursor) {
    if (id.startsWith(`${prefixes[list]}_`)) return id
    throw new Refusal(
      'invalid_query',
      'cursor belongs to another list. Pass next_cursor of the previous page of this list.',
    )
  }
  throw new Refusal(
    'invalid_query',
    'cursor is not a cursor of this service. Pass next_cursor of the previous page.',
  )
}

/** Longest search text, equal to the longest external id. */
const LONGEST_SEARCH = 255

/** Reads `?q=`, the search text; `undefined` when it is missing or empty. */
export function searchOf(query: URLSearchParams): string | undefined {
  const text = query.get('q') ?? ''
  // Counts characters like bodies do: a surrogate pair is one character.
  const { length } = Array.from(text)
  if (length <= LONGEST_SEARCH) return text === '' ? undefined : text
  throw new Refusal('invalid_query', `q must be at most ${LONGEST_SEARCH} characters long, got ${length}.`)
}

/** Reads `?q=` for a list that searches these fields; ignores it when there are none. */
export function searchIn(
  fields: readonly string[],
  query: URLSearchParams,
): { text: string; fields: readonly string[] } | undefined {
  const text = fields.length === 0 ? undefined : searchOf(query)
  return text === undefined ? undefined : { text, fields }
}

/** Reads `?name=` as one of the choices. */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const choice = choices.find((word) => word === given)
  if (choice === undefined)
    throw new Refusal('invalid_query', `${name} must be one of ${choices.join(', ')}, got ${shown(given)}.`)
  return choice
}

/** Reads `?type=`, the type of an event or `ping`. */
export function typeIn(query: URLSearchParams): EventType | 'ping' | undefined {
  return choiceOf(query, 'type', eventTypesAndPing)
}

/** Reads `?name=` as a time in the form of stored times, which sort as text. */
export function timeIn(query: URLSearchParams, name: string): string | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const time = parseTime(given)
  if (time !== undefined) return time.toISOString()
  const issue = `must be an ISO 8601 time such as 2026-11-21T18:00:00Z, got ${shown(given)}`
  throw new Refusal('invalid_query', `${name} ${localTimeIssue(given) ?? issue}.`)
}

/** Times from `from` on and before `to`, in the form of stored times. */
interface TimeRange {
  from: string | undefined
  to: string | undefined
}

/** Reads `?from=` and `?to=`. */
export function timeRangeOf(query: URLSearchParams): TimeRange {
  return { from: timeIn(query, 'from'), to: timeIn(query, 'to') }
}

export function isWithin({ from, to }: TimeRange, time: string): boolean {
  return (from === undefined || time >= from) && (to === undefined || time < to)
}

/** Returns the external id in a path below `/v1/checks/external/` or `/_sim/checks/`; `undefined` without one. */
export function externalIdIn(path: string): string | undefined {
  const raw = /^\/(?:v1\/checks\/external|_sim\/checks)\/([^/?]+)/.exec(path)?.[1]
  try {
    return raw === undefined ? undefined : decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

/** Returns a filter without its undefined fields. */
export function definedFields(filter: Record<string, string | null | undefined>): Record<string, string> {
  const entries = Object.entries(filter).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(entries)
}

/** Query names of every list (contract section 3). */
export const paging = { limit: 'limit', cursor: 'cursor' } as const satisfies QueryOf<PageQuery>

/** Query names of every list of the simulator. */
export const simPaging = { ...paging, order: 'order' } as const satisfies QueryOf<SimPageQuery>

interface ListOptions<T> {
  /** Values that stored fields must have. */
  where?: Readonly<Record<string, string>>
  /** @default the record as it is stored */
  view?: (record: T) => unknown
  /** Fields that `?q=` searches. Only lists of the simulator have them; these also accept `?order=`. */
  searched?: readonly string[]
  /** Selects by more than equal fields. */
  only?: (record: T) => boolean
}

/** Returns a page of a collection (contract section 3). */
export async function listOf<C extends CollectionName>(
  service: Pick<Service, 'list'>,
  collection: C,
  { query }: Call,
  { where = {}, view = (record) => record, searched, only }: ListOptions<Collections[C]> = {},
): Promise<Reply> {
  const search = searchIn(searched ?? [], query)
  const order = searched === undefined ? undefined : orderOf(query)
  const page = await service.list(collection, {
    where,
    search,
    only,
    order,
    ...pageQueryOf(query, collection),
  })
  return pageReply(page, view)
}

export function pageReply<T extends { id: string }>(
  { data, more }: { data: readonly T[]; more: boolean },
  view: (record: T) => unknown,
): Reply {
  const last = data.at(-1)
  return ok({ data: data.map(view), next_cursor: more && last !== undefined ? cursorAfter(last.id) : null })
}

/** Records read at once: about 1 ms of work, after which other requests run. */
const READ_AT_ONCE = 2_000

/** Reads all deliveries of a query in batches, until the caller is gone. */
export async function* deliveriesInBatches(
  service: Pick<Service, 'list'>,
  query: Omit<Parameters<typeof service.list<'deliveries'>>[1], 'after' | 'limit'>,
  gone: AbortSignal,
): AsyncGenerator<readonly Delivery[]> {
  for (let after: string | undefined, more = true; more && !gone.aborted;) {
    const page = await service.list('deliveries', { ...query, after, limit: READ_AT_ONCE })
    yield page.data
    after = page.data.at(-1)?.id
    more = page.more
  }
}

/** Returns the record. @throws Refusal `not_found` when it is missing or was removed by retention. */
export function keptUpToLimit<T>(record: T | undefined, noun: string): T {
  if (record !== undefined) return record
  throw new Refusal(
    'not_found',
    `No ${noun} with this id. The service keeps a limited number of finished events (--keep-events).`,
  )
}
