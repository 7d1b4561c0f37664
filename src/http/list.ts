import type { CollectionName, Collections } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { PageQuery, SimPageQuery } from '../model/simulator/list-queries.ts'
import type { Service } from '../service.ts'
import { cursorAfter, orderOf, pageOf, searchIn } from './query.ts'
import { ok, type Call, type QueryOf, type Reply } from './route.ts'

/** Query names of every list (contract section 3). */
export const paging = { limit: 'limit', cursor: 'cursor' } as const satisfies QueryOf<PageQuery>

/** Query names of every list of the simulator. */
export const simPaging = { ...paging, order: 'order' } as const satisfies QueryOf<SimPageQuery>

/**
 * Returns a page of a collection (contract section 3). Only lists of the simulator have `searched`, the fields that `?q=`
 * searches, and accept `?order=`.
 */
export async function listOf<C extends CollectionName>(
  service: Pick<Service, 'list'>,
  collection: C,
  { query }: Call,
  where: Readonly<Record<string, string>> = {},
  view: (record: Collections[C]) => unknown = (record) => record,
  searched?: readonly string[],
  only?: (record: Collections[C]) => boolean,
): Promise<Reply> {
  const search = searchIn(searched ?? [], query)
  const order = searched === undefined ? undefined : orderOf(query)
  const page = await service.list(collection, { where, search, only, order, ...pageOf(query) })
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

/** Reads a whole collection in batches, until the caller is gone. */
export async function* inBatches<C extends CollectionName>(
  service: Pick<Service, 'list'>,
  collection: C,
  query: Omit<Parameters<typeof service.list<C>>[1], 'after' | 'limit'>,
  gone: AbortSignal,
): AsyncGenerator<readonly Collections[C][]> {
  for (let after: string | undefined, more = true; more && !gone.aborted;) {
    const page = await service.list(collection, { ...query, after, limit: READ_AT_ONCE })
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
    `No ${noun} with this id. --keep-events limits how many finished events are kept.`,
  )
}
