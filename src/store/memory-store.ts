import type { Everything } from '../model/records.ts'
import { createCommits, createGate } from './commits.ts'
import { createRetention, KEPT_EVENTS } from './retention.ts'
import type { Store } from './store.ts'
import { pageOf } from './tables/table.ts'
import { createTables } from './tables/tables.ts'

/**
 * A store in memory, for tests, demonstrations and continuous integration. It behaves like the file store, but loses all
 * records when the process ends, and accepts transactions after `close`.
 *
 * @example
 * const store = createMemoryStore()
 */
export function createMemoryStore({ keepEvents = KEPT_EVENTS }: { keepEvents?: number } = {}): Store {
  const tables = createTables()
  const expire = createRetention(tables, keepEvents)
  const gate = createGate()
  const { announce, replaced, ...commits } = createCommits()
  const replaceBy = async (after: Everything) => {
    const { install } = await tables.prepare(after)
    install()
    return after
  }
  return {
    ...commits,
    async transact(reads, decide) {
      while (gate.closed !== undefined) await gate.closed
      const decision = decide(tables.read(reads), commits.generation())
      if (decision.writes.length > 0) {
        tables.apply(decision.writes)
        tables.apply(expire())
        announce(decision.writes)
      }
      return decision
    },
    get: async (collection, id) => tables.of(collection).records.get(id),
    find: async (collection, index, key) => [...tables.of(collection).find(index, key)],
    list: async (collection, query) => pageOf(tables.of(collection).records, query),
    due: async (query) => tables.due(query),
    unfinished: async (query) => tables.unfinished(query),
    everything: async () => tables.all(),
    replace: (make) => gate.alone(() => replaced(replaceBy(make(tables.all())))),
    async close() {
      while (gate.closed !== undefined) await gate.closed
    },
  }
}
