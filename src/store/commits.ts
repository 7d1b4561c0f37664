import type { Delivery } from '../model/delivery.ts'
import { put, type Everything, type Write } from '../model/records.ts'
import type { Commit, CommitListener, Store } from './store.ts'

/** Called with each batch of transactions that became durable together. */
export type OnBatch = (batch: { transactions: number; seconds: number }) => void

/** Limits of the commits that are kept for reopened streams: their number, and the characters of their events. */
const KEEP = { transactions: 1_000, characters: 16 * 1024 * 1024 }

/** Announces the commits of a store to its listeners. */
export function createListeners() {
  const listeners = new Set<CommitListener>()
  const announce: CommitListener = (writes, kind, sequence) => {
    for (const listener of listeners) listener(writes, kind, sequence)
  }
  return {
    onCommit(listener: CommitListener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    announce,
  }
}

/** Announces and numbers the commits of a single process, and counts replacements of all records. */
export function createCommits() {
  const { onCommit, announce: callListeners } = createListeners()
  /** Each with the characters of its events. */
  const recent: (Commit & { size: number })[] = []
  let characters = 0
  let generation = 0
  let sequence = 0
  const announce = (writes: readonly Write[], kind?: 'replacement'): void => {
    sequence += 1
    if (kind === 'replacement') {
      recent.length = 0
      characters = 0
    } else {
      // The writes that streams show.
      const kept = writes.filter(({ collection }) => collection === 'events' || collection === 'deliveries')
      const size = kept.reduce(
        (sum, write) => sum + (write.collection === 'events' && 'put' in write ? write.put.body.length : 0),
        0,
      )
      recent.push({ sequence, writes: kept, size })
      characters += size
    }
    while (recent.length > KEEP.transactions || characters > KEEP.characters)
      characters -= recent.shift()?.size ?? 0
    callListeners(writes, kind, sequence)
  }
  const feed: Pick<Store, 'sequence' | 'committedAfter' | 'bringUpToDate'> = {
    sequence: () => sequence,
    async committedAfter(after) {
      const missed = sequence - after
      if (missed < 0 || missed > recent.length) return undefined
      return recent.slice(recent.length - missed).map(({ size: _size, ...commit }) => commit)
    },
    bringUpToDate: async () => undefined,
  }
  return {
    ...feed,
    onCommit,
    generation: () => generation,
    /** Must be called with the writes of each decision that has any, once they are durable. */
    announce,
    /** Announces a replacement of all records once it is durable. */
    async replaced(replace: Promise<Pick<Everything, 'deliveries'>>): Promise<void> {
      const { deliveries } = await replace
      generation += 1
      announce(pendingWrites(deliveries), 'replacement')
    },
  }
}

/** Returns the writes that a listener gets after a replacement: the pending deliveries, oldest first. */
export function pendingWrites(deliveries: Iterable<Delivery>): readonly Write[] {
  const writes: Write[] = []
  for (const delivery of deliveries)
    if (delivery.status === 'pending') writes.push(put('deliveries', delivery))
  return writes
}

/** Makes transactions wait while all records are replaced. */
export function createGate() {
  const gate = {
    /** Resolves when the current replacement ends; `undefined` when none runs. Another may have begun then. */
    closed: undefined as Promise<void> | undefined,
    /** Runs a replacement after the current one. */
    async alone<T>(replace: () => Promise<T>): Promise<T> {
      while (gate.closed !== undefined) await gate.closed
      const done = replace()
      const open = () => void (gate.closed = undefined)
      gate.closed = done.then(open, open)
      return done
    },
  }
  return gate
}
