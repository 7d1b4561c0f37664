import type { Clock } from './clock.ts'
import type { Delivery } from './model/delivery.ts'
import { put, type Reads, type Everything, type ReadResults, type Write } from './model/records.ts'
import type { NewId, Operation } from './operations/operation.ts'
import { outbox, outboxReads } from './operations/outbox.ts'
import type { Store } from './store/store.ts'

/** The service without its transports. HTTP, the simulator and the pump all call it. */
export interface Service extends Pick<Store, 'get' | 'find' | 'list' | 'due' | 'unfinished' | 'everything'> {
  /**
   * Runs an operation as one transaction: its writes, events and deliveries become durable together before this
   * resolves. Except `replace`, nothing else writes.
   * @throws Refusal, when the operation refuses or the store cannot make the writes durable.
   */
  execute<Command, A extends Reads, Reply>(
    operation: Operation<Command, A, Reply>,
    command: Command,
  ): Promise<Reply>
  /**
   * Replaces all records in one transaction. `make` is pure, like an operation's `decide`.
   * @throws Refusal, when the store cannot make it durable; then nothing changes.
   */
  replace(make: (all: Everything) => Everything): Promise<void>
  /** Calls `listener` with the writes of each transaction, in order, once they are durable. The result removes it. */
  onCommit(listener: CommitListener): () => void
}

/** A `replacement` invalidates all earlier records; its writes put the pending deliveries, oldest first. */
export type CommitListener = (writes: readonly Write[], kind?: 'replacement') => void

interface ServiceParts {
  store: Store
  clock: Pick<Clock, 'now'>
  newId: NewId
  newSecret: () => string
}

export function createService({ store, clock, newId, newSecret }: ServiceParts): Service {
  const listeners = new Set<CommitListener>()
  return {
    async execute<Command, A extends Reads, Reply>(
      operation: Operation<Command, A, Reply>,
      command: Command,
    ) {
      const reads: A & typeof outboxReads = Object.assign({}, operation.reads(command), outboxReads)
      const { reply, writes } = await store.transact(reads, (records) => {
        const { subscribers } = records as ReadResults<typeof outboxReads>
        const context = { now: clock.now(), newId, newSecret }
        const decision = operation.decide(records, command, context)
        const announced = outbox(decision.events, subscribers, context)
        return { reply: decision.reply, writes: [...decision.writes, ...announced] }
      })
      if (writes.length > 0) for (const listener of listeners) listener(writes)
      return reply
    },
    async replace(make) {
      let deliveries: readonly Delivery[] = []
      await store.replace((all) => {
        const after = make(all)
        deliveries = after.deliveries
        return after
      })
      const writes = deliveries
        .filter(({ status }) => status === 'pending')
        .map((delivery) => put('deliveries', delivery))
      for (const listener of listeners) listener(writes, 'replacement')
    },
    onCommit(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    get: (collection, id) => store.get(collection, id),
    find: (collection, lookup, key) => store.find(collection, lookup, key),
    list: (collection, query) => store.list(collection, query),
    due: (query) => store.due(query),
    unfinished: (query) => store.unfinished(query),
    everything: () => store.everything(),
  }
}
