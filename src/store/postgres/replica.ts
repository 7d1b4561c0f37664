import { createListeners, pendingWrites } from '../commits.ts'
import { createRetention } from '../retention.ts'
import type { Json, ValueListener } from '../shared-values.ts'
import { createTables } from '../tables/tables.ts'
import {
  rowsOf,
  type Appending,
  type Change,
  type ChangeRow,
  type SharedJournal,
  type ValueWrite,
} from './journal.ts'
import type { SecretBox } from './secret-box.ts'

/** A transaction or a read to decide in memory, with the promise of its caller. */
export interface Job {
  isRead: boolean
  decide: () => Change & { reply: unknown }
  resolve: (reply: unknown) => void
  reject: (error: unknown) => void
}

/** Decisions that are in memory and not durable yet. */
export interface Decided {
  /** Callbacks that resolve or reject the jobs, in order: one per decided job. */
  outcomes: (() => void)[]
  /** Transactions that write, and their rows. */
  changes: Change[]
  rows: (readonly ChangeRow[])[]
  undo: (() => void)[]
}

/** The database answered after the time of the round was over. */
export class TooLate extends Error {}

/**
 * All records and values of a sandbox in memory, as of a sequence of the journal in the database. They may be ahead of it by
 * decisions that are not durable yet: {@link decide} makes these, then `complete` or `undo` ends them.
 */
export function createReplica(
  journal: Pick<SharedJournal, 'load' | 'catchUp'>,
  box: SecretBox,
  keepEvents: number,
) {
  const tables = createTables()
  const expire = createRetention(tables, keepEvents)
  const { announce, onCommit } = createListeners()
  const valueListeners = new Set<ValueListener>()
  let values = new Map<string, string>()
  let seq = -1
  let generation = -1
  /** True while the memory has transactions that are not durable. */
  let isAhead = false
  /** Counts decisions and looks, so that an answer that comes too late is not applied. */
  let step = 0
  /** A reload under way. It may take longer than a round; until it ends, nothing is decided or applied. */
  let reloading: Promise<void> | undefined

  /** Replaces the memory by what the database has. */
  async function load(): Promise<void> {
    const contents = await journal.load()
    const { install } = await tables.prepare(contents.records)
    install()
    seq = contents.seq
    generation = contents.generation
    const before = values
    values = new Map(contents.values)
    for (const key of new Set([...before.keys(), ...values.keys()]))
      if (before.get(key) !== values.get(key)) announceValue(key)
  }

  /** Applies what the journal has and the memory has not. Returns whether anything was new; adds its batches to `found`. */
  async function catchUp(
    own: Pick<Appending, 'catchUp'> = journal,
    found = new Set<string>(),
  ): Promise<boolean> {
    if (reloading !== undefined) {
      await reloading
      return true
    }
    const mine = ++step
    let isNew = false
    for (;;) {
      const { changes, isLost, batches, more } = await own.catchUp({ seq })
      if (mine !== step || isAhead) throw new TooLate()
      if (isLost) {
        reloading = load().finally(() => (reloading = undefined))
        await reloading
        announce(pendingWrites(tables.all().deliveries), 'replacement', seq)
        return true
      }
      for (const batch of batches) found.add(batch)
      for (const change of changes) {
        isNew = true
        tables.apply(change.writes)
        applyValues(change.values)
        announceNext(change)
      }
      if (!more) return isNew
    }
  }

  /** Applies a transaction in memory, with the removals of retention. */
  function apply(change: Change): { rows: readonly ChangeRow[]; undo: () => void } {
    // Serialised first, so that values that JSON cannot hold do not reach memory.
    const rows = rowsOf(change, box)
    const undoWrites = tables.apply(change.writes)
    const expired = change.writes.length === 0 ? [] : expire()
    const undoExpired = tables.apply(expired)
    const undoValues = applyValues(change.values)
    return {
      rows: [...rows, ...rowsOf({ writes: expired, values: [] }, box)],
      undo() {
        tables.apply(undoExpired)
        tables.apply(undoWrites)
        applyValues(undoValues)
      },
    }
  }

  /** Returns the writes that undo these. */
  function applyValues(writes: readonly ValueWrite[]): readonly ValueWrite[] {
    return writes.map(({ key, json }) => {
      const before = values.get(key) ?? null
      if (json === null) values.delete(key)
      else values.set(key, json)
      return { key, json: before }
    })
  }

  /** Announces the next transaction, which is in memory. */
  function announceNext({ writes, values: written }: Change): void {
    seq += 1
    if (writes.length > 0) announce(writes, undefined, seq)
    for (const { key } of written) announceValue(key)
  }

  function announceValue(key: string): void {
    for (const listener of valueListeners) listener(key, readValue(key))
  }

  function readValue(key: string): Json | undefined {
    const json = values.get(key)
    return json === undefined ? undefined : (JSON.parse(json) as Json)
  }

  return {
    tables,
    onCommit,
    load,
    catchUp,
    /** Sequence of the last transaction that is known to be durable. */
    seq: () => seq,
    generation: () => generation,
    isAhead: () => isAhead,
    /** The reload under way, if any. */
    reloading: () => reloading,
    readValue,
    /** Returns the writes that set a value; none when it is set already. */
    valueWrites(key: string, value: Json | undefined): readonly ValueWrite[] {
      const json = value === undefined ? null : JSON.stringify(value)
      return json === (values.get(key) ?? null) ? [] : [{ key, json }]
    },
    onValueChange(listener: ValueListener): () => void {
      valueListeners.add(listener)
      return () => valueListeners.delete(listener)
    },
    /**
     * Decides jobs in memory, each on the records as the earlier ones left them, until their rows have more than
     * `mostCharacters`. The first jobs are decided, as many as there are outcomes.
     */
    decide(jobs: readonly Omit<Job, 'isRead'>[], mostCharacters: number): Decided {
      const decided: Decided = { outcomes: [], changes: [], rows: [], undo: [] }
      let characters = 0
      step += 1
      for (const job of jobs) {
        if (characters > mostCharacters) break
        try {
          const { reply, ...change } = job.decide()
          const { rows, undo } = apply(change)
          decided.undo.push(undo)
          if (rows.length > 0) {
            decided.rows.push(rows)
            decided.changes.push(change)
            characters += rows.reduce((sum, { doc }) => sum + (doc?.length ?? 0), 0)
          }
          decided.outcomes.push(() => job.resolve(reply))
        } catch (error) {
          decided.outcomes.push(() => job.reject(error))
        }
      }
      isAhead = decided.rows.length > 0
      return decided
    },
    /** Undoes decisions in memory, if any. */
    undo(decided: Decided | undefined): void {
      for (const one of decided?.undo.toReversed() ?? []) one()
      isAhead = false
    },
    /** Marks decisions as durable, and announces them. */
    complete({ changes }: Decided): void {
      isAhead = false
      for (const change of changes) announceNext(change)
    },
  }
}
