import type { List, ListQuery } from '../client.ts'

/** Everything that a list has, newest first, page by page. */
export async function* allOf<T>(
  list: (query: ListQuery) => Promise<List<T>>,
  filter: ListQuery = {},
): AsyncGenerator<T> {
  let cursor: string | undefined
  do {
    const page = await list({ ...filter, limit: 100, cursor })
    yield* page.data
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}
