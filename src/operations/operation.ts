import type { DomainEvent } from '../model/event.ts'
import type { Reads, ReadResults, Write } from '../model/records.ts'

/** Makes a new identifier: the prefix and 26 Crockford base-32 characters in time order (contract section 1). */
export type NewId = (prefix: IdPrefix) => string
export type IdPrefix = 'chk' | 'clm' | 'pay' | 'fbk' | 'loc' | 'we' | 'evt' | 'dlv' | 'key' | 'req'

/** What an operation may know of the world: values, no sources of them. */
export interface Context {
  now: Date
  newId: NewId
  /** A new signing secret, `whsec_…`. */
  newSecret: () => string
}

/** What an operation decided: the answer, what shall be written, and what has thereby happened. */
export interface Decision<Reply> {
  reply: Reply
  writes: readonly Write[]
  events: readonly DomainEvent[]
}

/**
 * One thing that the service can do. It names what it needs to see and decides; it writes nothing itself, so a replay
 * is a decision without writes, and a refusal (thrown) leaves nothing to undo.
 */
export interface Operation<Command, R extends Reads, Reply> {
  reads(command: Command): R
  decide(records: ReadResults<R>, command: Command, context: Context): Decision<Reply>
}

/** The reads of an operation that needs no records. */
export type NoReads = Readonly<Record<string, never>>

/** A decision that changes nothing. */
export function unchanged<Reply>(reply: Reply): Decision<Reply> {
  return { reply, writes: [], events: [] }
}
