import { put, remove, type CollectionName, type Everything, type Write } from '../model/records.ts'
import { collectionNames } from './tables.ts'

/** The writes that lead from one content of a store to another. What is the very same record stays as it is. */
export function replacement(before: Everything, after: Everything): Write[] {
  return collectionNames.flatMap((name) => writesOf(name, before[name], after[name]))
}

function writesOf<C extends CollectionName>(name: C, before: Everything[C], after: Everything[C]): Write[] {
  const there = new Map(before.map((record) => [record.id, record]))
  const kept = new Set(after.map(({ id }) => id))
  const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => remove(name, id))
  const come = after.filter((record) => there.get(record.id) !== record)
  return [...gone, ...come.map((record) => put(name, record))]
}
