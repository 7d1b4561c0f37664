import type { Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { FileGone, reasonOf, remedyFor } from './errors.ts'
import type { OnBatch } from './commits.ts'
import { encodeLines } from './journal/line.ts'
import { ReplacedNotSynced } from '../replace-file.ts'
import { timers } from '../timers.ts'

/** Group commit: transactions that wait at the same time share one write and one sync. They are already in memory. */
export interface GroupCommit {
  /** Number of the last transaction added. */
  sequence(): number
  /** Adds a transaction: its writes as JSON, and the writes that undo it in memory. */
  add(writes: string, undo: readonly Write[]): void
  /** Counts a transaction that was made durable elsewhere; no other may be waiting. */
  skip(): void
  /** True when the record's last change is not on disk yet. */
  isUnwritten(id: string): boolean
  /** Resolves when all transactions added so far are durable; rejects with a Refusal when they were undone. */
  flushed(): Promise<void>
}

interface GroupCommitParts {
  /** Number of the last durable transaction. */
  sequence: number
  /** Writes lines to disk. When it is called, memory is as after these lines. */
  write: (lines: Uint8Array, lastSequence: number) => Promise<void>
  /** Undoes transactions in memory. */
  undo: (writes: readonly Write[]) => void
  onBatch?: OnBatch | undefined
}

interface Batch {
  transactions: string[]
  undo: (readonly Write[])[]
  /** Ids of the records that it writes. */
  ids: Set<string>
  done: Promise<void>
  resolve: () => void
  reject: (refusal: Refusal) => void
}

export function createGroupCommit({ sequence, write, undo, onBatch }: GroupCommitParts): GroupCommit {
  let durable = sequence
  let waiting = newBatch()
  let writing: Batch | undefined
  let running = false
  let last = sequence

  /** Undoes the failed batch and all later ones, which were decided on its records. */
  const fail = (error: unknown, batches: readonly Batch[]) => {
    waiting = newBatch()
    last = durable
    for (const writes of batches.flatMap((batch) => batch.undo).reverse()) undo(writes)
    for (const batch of batches) batch.reject(unavailable(error))
  }
  const run = async () => {
    running = true
    while (waiting.transactions.length > 0) {
      await timers.nextTurn() // Lets further requests join, such as those that waited for the last batch.
      const batch = waiting
      const { transactions } = batch
      writing = batch
      waiting = newBatch()
      const began = timers.elapsed()
      try {
        await write(encodeLines(durable + 1, transactions), last)
      } catch (error) {
        writing = undefined
        fail(error, [batch, waiting])
        continue
      }
      durable += transactions.length
      writing = undefined
      batch.resolve()
      onBatch?.({ transactions: transactions.length, seconds: (timers.elapsed() - began) / 1_000 })
    }
    running = false
  }
  return {
    sequence: () => last,
    add(writes, undoing) {
      waiting.transactions.push(writes)
      waiting.undo.push(undoing)
      for (const write of undoing) waiting.ids.add('put' in write ? write.put.id : write.remove)
      last += 1
      if (!running) void run()
    },
    skip() {
      durable += 1
      last += 1
    },
    isUnwritten: (id) => waiting.ids.has(id) || writing?.ids.has(id) === true,
    flushed: () => (waiting.transactions.length > 0 ? waiting.done : (writing?.done ?? Promise.resolve())),
  }
}

function newBatch(): Batch {
  let ends: Pick<Batch, 'resolve' | 'reject'> = { resolve() {}, reject() {} }
  const done = new Promise<void>((resolve, reject) => (ends = { resolve, reject }))
  done.catch(() => {}) // Without a caller that waits, a rejection must not end the process.
  return { transactions: [], undo: [], ids: new Set(), done, ...ends }
}

export function unavailable(error: unknown): Refusal {
  if (error instanceof ReplacedNotSynced)
    return new Refusal(
      'storage_unavailable',
      `It is unknown whether the disk has kept the replaced data, so nothing more is saved: ${reasonOf(error)}. Repair the disk, then restart the service.`,
    )
  const remedy =
    error instanceof FileGone
      ? error.remedy
      : (remedyFor(error) ?? 'Check the disk and the rights of its files')
  return new Refusal(
    'storage_unavailable',
    `Nothing was changed, because the disk could not be written: ${reasonOf(error)}. ${remedy}, then send the request again.`,
  )
}
