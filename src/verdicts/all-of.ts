import type { List, PageQuery } from '../client/views.ts'

/** Everything that a list has, newest first, page by page. */
export async function* allOf<T, Query extends PageQuery>(
  list: (query?: Query) => Promise<List<T>>,
  filter: Query = {} as Query,
): AsyncGenerator<T> {
  let cursor: string | undefined
  do {
    const page = await list({ ...filter, limit: 100, cursor })
    yield* page.data
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}
