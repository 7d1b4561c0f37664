import type { Write } from '../../model/records.ts'
import type { Service } from '../../service.ts'
import type { Table } from '../../table-address.ts'
import { timers } from '../../timers.ts'
import type { HttpResponse } from '../refusals.ts'
import { HEARTBEAT, HEARTBEAT_MS, streamHeaders } from '../stream/stream.ts'
import { createSubscriber, type Subscriber } from '../stream/subscriber.ts'

/** Server-sent events `change`: the state of the table may have changed. */
export interface TableStream {
  /** `checkIds` are the checks last seen at the table, so that a check moved away counts as a change. */
  open(table: Table, checkIds: readonly string[]): HttpResponse
  /** Ends all open streams, and those that open later at once, so that a shutdown does not wait for them. */
  close(): void
}

/** The subscribers of one table. */
interface Listeners {
  table: Table
  subscribers: Set<Subscriber>
  checkIds: Set<string>
  /** False after all records were replaced: then each change of a check counts, since any may have been at the table. */
  knowsChecks: boolean
}

/** The event `change`. It is also sent first, since a reconnected page may have missed changes. */
const CHANGE = 'event: change\ndata: {}\n\n'
const CHANGE_BYTES = new TextEncoder().encode(CHANGE)

/** Limit of queued events for a slow page; one event is as good as many. */
const MOST_WAITING_BYTES = 1024

export function createTableStream(service: Pick<Service, 'onCommit'>): TableStream {
  const tables = new Map<string, Listeners>()
  let isClosed = false
  service.onCommit((writes, kind) => {
    for (const [key, listeners] of tables) {
      if (kind === 'replacement') listeners.knowsChecks = false
      if (listeners.subscribers.size === 0) tables.delete(key)
      else if (kind === 'replacement' || concerns(writes, listeners))
        for (const subscriber of listeners.subscribers) subscriber.send('', () => CHANGE_BYTES)
    }
  })
  const heartbeat = timers.setInterval(() => {
    for (const { subscribers } of tables.values())
      for (const subscriber of subscribers) subscriber.beat(HEARTBEAT)
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    open(table, checkIds) {
      const key = JSON.stringify([table.location_id, table.number])
      const listeners = tables.get(key) ?? {
        table,
        subscribers: new Set(),
        checkIds: new Set(),
        knowsChecks: true,
      }
      tables.set(key, listeners)
      for (const id of checkIds) listeners.checkIds.add(id)
      const { subscribers } = listeners
      const subscriber = createSubscriber({
        greeting: `retry: 1000\n\n${CHANGE}`,
        mostBytes: MOST_WAITING_BYTES,
        dropped: () => CHANGE,
        onEnd: () => subscribers.delete(subscriber),
      })
      subscribers.add(subscriber)
      // The request may have begun before the service stopped, and read its checks meanwhile.
      if (isClosed) subscriber.close()
      return { status: 200, headers: streamHeaders, body: subscriber.body }
    },
    close() {
      isClosed = true
      timers.clearInterval(heartbeat)
      for (const { subscribers } of tables.values()) for (const subscriber of subscribers) subscriber.close()
      tables.clear()
    },
  }
}

/** Every change of a check by guests or the POS writes the check. */
function concerns(writes: readonly Write[], { table, checkIds, knowsChecks }: Listeners): boolean {
  const touched = writes.flatMap((write) =>
    write.collection === 'checks' && 'put' in write ? [write.put] : [],
  )
  const here = touched.filter(
    (check) => check.location_id === table.location_id && check.table.number === table.number,
  )
  const known = touched.some(({ id }) => !knowsChecks || checkIds.has(id))
  for (const { id } of here) checkIds.add(id)
  return known || here.length > 0
}
