import type { CollectionName, Collections } from '../model/records.ts'
import type { Service } from '../service.ts'
import { cursorAfter, orderOf, pageOf, searchIn } from './query.ts'
import { ok, type Call, type Reply } from './route.ts'

/**
 * A page of a collection in the shape of every list (contract section 3). Lists of the simulator alone have `searched`,
 * the fields in which `?q=` is looked for, and take `?order=`.
 */
export async function listOf<C extends CollectionName>(
  service: Pick<Service, 'list'>,
  collection: C,
  { query }: Call,
  where: Readonly<Record<string, string>> = {},
  view: (record: Collections[C]) => unknown = (record) => record,
  searched?: readonly string[],
): Promise<Reply> {
  const search = searchIn(searched ?? [], query)
  const order = searched === undefined ? undefined : orderOf(query)
  const page = await service.list(collection, { where, search, order, ...pageOf(query) })
  return pageReply(page, view)
}

export function pageReply<T extends { id: string }>(
  { data, more }: { data: readonly T[]; more: boolean },
  view: (record: T) => unknown,
): Reply {
  const last = data.at(-1)
  return ok({ data: data.map(view), next_cursor: more && last !== undefined ? cursorAfter(last.id) : null })
}
