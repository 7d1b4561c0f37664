import type { Store } from './store.ts'
import { pageOf } from './table.ts'
import { createTables } from './tables.ts'

/**
 * A store that forgets everything when the process ends: for tests, demonstrations and continuous integration.
 * Otherwise it behaves as the file store does.
 *
 * @example
 * const store = createMemoryStore()
 */
export function createMemoryStore(): Store {
  const tables = createTables()
  return {
    async transact(asks, decide) {
      const decision = decide(tables.give(asks))
      tables.apply(decision.writes)
      return decision
    },
    get: async (collection, id) => tables.of(collection).records.get(id),
    find: async (collection, lookup, key) => [...tables.of(collection).find(lookup, key)],
    list: async (collection, query) => pageOf(tables.of(collection).records, query),
    due: async (query) => tables.due(query),
    close: async () => {},
  }
}
