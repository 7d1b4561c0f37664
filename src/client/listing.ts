import type { PageQuery } from '../model/simulator/list-queries.ts'
import type { List } from './views.ts'

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
