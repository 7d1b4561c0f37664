import type { CollectionName, Collections } from '../model/records.ts'
import type { Service } from '../service.ts'
import { cursorAfter, pageOf, searchOf } from './query.ts'
import { ok, type Call, type Reply } from './route.ts'

/** A page of a collection in the shape of every list (contract section 3). `?q=` is looked for in the fields of `searched`. */
export async function listOf<C extends CollectionName>(
  service: Pick<Service, 'list'>,
  collection: C,
  { query }: Call,
  where: Readonly<Record<string, string>> = {},
  view: (record: Collections[C]) => unknown = (record) => record,
  searched: readonly string[] = [],
): Promise<Reply> {
  const text = searched.length === 0 ? undefined : searchOf(query)
  const search = text === undefined ? undefined : { text, fields: searched }
  const page = await service.list(collection, { where, search, ...pageOf(query) })
  return pageReply(page, view)
}

export function pageReply<T extends { id: string }>(
  { data, more }: { data: readonly T[]; more: boolean },
  view: (record: T) => unknown,
): Reply {
  const last = data.at(-1)
  return ok({ data: data.map(view), next_cursor: more && last !== undefined ? cursorAfter(last.id) : null })
}
