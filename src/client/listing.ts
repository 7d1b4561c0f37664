import type { List, PageQuery } from './views.ts'

/** A list of the API. */
export interface Listing<T, Query extends PageQuery> {
  /**
   * Returns one page, newest first, with the cursor of the next page.
   * @default query.limit is 20
   */
  list(query?: Query): Promise<List<T>>
  /**
   * Iterates over every record, newest first, and asks for the next page when it is needed.
   * @default query.limit, the size of the pages, is 100
   * @example
   * for await (const check of client.checks.all({ status: 'open' })) console.log(check.external_id)
   */
  all(query?: Query): AsyncGenerator<T, void>
}

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
