import type { DomainEvent } from '../model/event.ts'
import type { Reads, ReadResults, Write } from '../model/records.ts'
import type { TraceContext } from '../model/text/trace-context.ts'

/** Returns a new identifier: the prefix and 26 Crockford base-32 characters in time order (contract section 1). */
export type NewId = (prefix: IdPrefix) => string
type IdPrefix = 'chk' | 'clm' | 'pay' | 'fbk' | 'loc' | 'we' | 'evt' | 'dlv' | 'off' | 'key' | 'req'

/** Values from outside the store that an operation may use. */
export interface Context {
  now: Date
  newId: NewId
  /** Returns a new signing secret, `whsec_…`. */
  newSecret: () => string
  /** Number of times that all records were replaced. */
  generation: number
  /** Trace context of the request, which its events keep; absent without `--trace`. */
  trace?: TraceContext | undefined
}

/** Result of an operation: the reply, the records to write, and the events. */
export interface Decision<Reply> {
  reply: Reply
  writes: readonly Write[]
  events: readonly DomainEvent[]
}

/**
 * An action of the service. It declares its reads and decides; it writes nothing itself. So a replayed push is a
 * decision without writes, and a thrown refusal leaves nothing to undo.
 */
export interface Operation<Command, R extends Reads, Reply> {
  reads(command: Command): R
  decide(records: ReadResults<R>, command: Command, context: Context): Decision<Reply>
}

/** The reads of an operation that needs no records. */
export type NoReads = Readonly<Record<string, never>>

/** Returns a decision without changes. */
export function unchanged<Reply>(reply: Reply): Decision<Reply> {
  return { reply, writes: [], events: [] }
}
