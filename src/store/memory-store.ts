import { fannedOut } from './fan-out.ts'
import { createHistory, KEPT_EVENTS } from './history.ts'
import type { Store } from './store.ts'
import { pageOf } from './table.ts'
import { replacement } from './replacement.ts'
import { createTables } from './tables.ts'

/**
 * A store that forgets everything when the process ends: for tests, demonstrations and continuous integration.
 * Otherwise it behaves as the file store does.
 *
 * @example
 * const store = createMemoryStore()
 */
export function createMemoryStore({ keepEvents = KEPT_EVENTS }: { keepEvents?: number } = {}): Store {
  const tables = createTables()
  const leaving = createHistory(tables, keepEvents)
  return {
    async transact(asks, decide) {
      const decision = decide(tables.give(asks))
      if (decision.writes.length > 0) {
        tables.apply(fannedOut(decision.writes))
        tables.apply(leaving())
      }
      return decision
    },
    get: async (collection, id) => tables.of(collection).records.get(id),
    find: async (collection, lookup, key) => [...tables.of(collection).find(lookup, key)],
    list: async (collection, query) => pageOf(tables.of(collection).records, query),
    due: async (query) => tables.due(query),
    unfinished: async (query) => tables.unfinished(query),
    everything: async () => tables.all(),
    async replace(make) {
      const before = tables.all()
      const writes = replacement(before, make(before))
      tables.apply(fannedOut(writes))
      return writes
    },
    close: async () => {},
  }
}
