import type { Clock } from './clock.ts'
import type { Reads, ReadResults } from './model/records.ts'
import type { TraceContext } from './model/text/trace-context.ts'
import type { NewId, Operation } from './operations/operation.ts'
import { outbox, outboxReads } from './operations/outbox.ts'
import type { Store } from './store/store.ts'

export type { SharedValues } from './store/shared-values.ts'

/** The service without its transports. HTTP, the simulator and the pump all call it. */
export interface Service extends Pick<
  Store,
  | 'get'
  | 'find'
  | 'list'
  | 'due'
  | 'unfinished'
  | 'everything'
  | 'replace'
  | 'generation'
  | 'onCommit'
  | 'sequence'
  | 'committedAfter'
  | 'bringUpToDate'
> {
  /**
   * Runs an operation as one transaction: its writes, events and deliveries become durable together before this
   * resolves. Except `replace`, nothing else writes. The events keep `trace`, the trace context of the request.
   * @throws Refusal, when the operation refuses or the store cannot make the writes durable.
   */
  execute<Command, A extends Reads, Reply>(
    operation: Operation<Command, A, Reply>,
    command: Command,
    trace?: TraceContext,
  ): Promise<Reply>
}

interface ServiceParts {
  store: Store
  clock: Pick<Clock, 'now'>
  newId: NewId
  newSecret: () => string
}

export function createService({ store, clock, newId, newSecret }: ServiceParts): Service {
  const { transact, close: _close, ...reading } = store
  return {
    ...reading,
    async execute<Command, A extends Reads, Reply>(
      operation: Operation<Command, A, Reply>,
      command: Command,
      trace?: TraceContext,
    ) {
      const reads: A & typeof outboxReads = Object.assign({}, operation.reads(command), outboxReads)
      const { reply } = await transact(reads, (records, generation) => {
        const { subscribers } = records as ReadResults<typeof outboxReads>
        const context = { now: clock.now(), newId, newSecret, generation, trace }
        const decision = operation.decide(records, command, context)
        const announced = outbox(decision.events, subscribers, context)
        return { reply: decision.reply, writes: [...decision.writes, ...announced] }
      })
      return reply
    },
  }
}
