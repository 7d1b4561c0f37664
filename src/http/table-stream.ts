import type { Write } from '../model/records.ts'
import type { Service } from '../service.ts'
import type { Table } from '../table-address.ts'
import type { Answer } from './refusals.ts'
import { createReader, type StreamReader } from './stream-reader.ts'
import { HEARTBEAT, HEARTBEAT_MS, streamHeaders } from './stream.ts'
import { timers } from '../timers.ts'

/** Server-sent events `change`: something at the table is otherwise than before, and to be read anew. */
export interface TableStream {
  /** `checkIds` are those that the table is known to have: one that is moved away is news as well. */
  open(table: Table, checkIds: readonly string[]): Answer
  close(): void
}

/** Those who listen at one table. */
interface Listeners {
  table: Table
  readers: Set<StreamReader>
  checkIds: Set<string>
}

/** The first word tells a page that has come back that it may have missed something. */
const CHANGE = 'event: change\ndata: {}\n\n'
const CHANGE_BYTES = new TextEncoder().encode(CHANGE)

/** One change says as much as many do, so that few need to wait for a page that does not read. */
const MOST_WAITING_BYTES = 1024

export function createTableStream(service: Pick<Service, 'onCommit'>): TableStream {
  const tables = new Map<string, Listeners>()
  service.onCommit((writes, kind) => {
    for (const [key, listeners] of tables) {
      if (listeners.readers.size === 0) tables.delete(key)
      else if (kind === 'replacement' || concerns(writes, listeners))
        for (const reader of listeners.readers) reader.tell('', () => CHANGE_BYTES)
    }
  })
  const heartbeat = timers.setInterval(() => {
    for (const { readers } of tables.values()) for (const reader of readers) reader.beat(HEARTBEAT)
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    open(table, checkIds) {
      const key = JSON.stringify([table.location_id, table.number])
      const listeners = tables.get(key) ?? { table, readers: new Set(), checkIds: new Set() }
      tables.set(key, listeners)
      for (const id of checkIds) listeners.checkIds.add(id)
      const { readers } = listeners
      const reader = createReader({
        greeting: `retry: 1000\n\n${CHANGE}`,
        mostBytes: MOST_WAITING_BYTES,
        dropped: () => CHANGE,
        onEnd: () => readers.delete(reader),
      })
      readers.add(reader)
      return { status: 200, headers: streamHeaders, body: reader.body }
    },
    close() {
      timers.clearInterval(heartbeat)
      for (const { readers } of tables.values()) for (const reader of readers) reader.close()
      tables.clear()
    },
  }
}

/** Whatever guests or the POS do to a check writes the check. */
function concerns(writes: readonly Write[], { table, checkIds }: Listeners): boolean {
  const touched = writes.flatMap((write) =>
    write.collection === 'checks' && 'put' in write ? [write.put] : [],
  )
  const here = touched.filter(
    (check) => check.location_id === table.location_id && check.table.number === table.number,
  )
  const known = touched.some(({ id }) => checkIds.has(id))
  for (const { id } of here) checkIds.add(id)
  return known || here.length > 0
}
