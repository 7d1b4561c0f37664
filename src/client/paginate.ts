import type { List, PageQuery } from './views.ts'

/** Iterates over everything that a list has from the cursor of the query on, page by page. */
export async function* paginate<T, Query extends PageQuery>(
  list: (query?: Query) => Promise<List<T>>,
  query: Query = {} as Query,
): AsyncGenerator<T, void> {
  let { cursor } = query
  do {
    const page = await list({ ...query, limit: query.limit ?? 100, cursor })
    yield* page.data
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}
