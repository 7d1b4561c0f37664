import type { Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { FileGone, reasonOf } from './errors.ts'
import { createLineEncoder } from './journal/line.ts'
import { timers } from '../timers.ts'

/** Makes transactions durable that are already in memory; those that wait at the same time share one write and one sync. */
export interface GroupCommit {
  /** The number of the last transaction that was added. */
  sequence(): number
  /** Adds a transaction: its writes as JSON, and the writes that undo it in memory. */
  add(writes: string, undo: readonly Write[]): void
  /** Counts a transaction that was made durable elsewhere, while nothing waits. */
  skip(): void
  /** Whether the record with this id is in memory as it is not yet on the disk. */
  isUnwritten(id: string): boolean
  /** Resolves when everything added so far is durable, rejects with a Refusal when it was undone. */
  flushed(): Promise<void>
}

interface GroupCommitParts {
  /** The number of the last transaction that is durable. */
  sequence: number
  /** Puts lines on the disk. When called, memory is as these lines leave it. */
  write: (lines: Uint8Array, lastSequence: number) => Promise<void>
  /** Takes transactions back in memory. */
  undo: (writes: readonly Write[]) => void
}

interface Batch {
  transactions: string[]
  undo: (readonly Write[])[]
  /** Of the records that its first `noted` transactions write. */
  ids: Set<string>
  noted: number
  done: Promise<void>
  settle: (error?: Refusal) => void
}

export function createGroupCommit({ sequence, write, undo }: GroupCommitParts): GroupCommit {
  let durable = sequence
  let waiting = newBatch()
  let writing: Batch | undefined
  let running = false
  const encode = createLineEncoder()
  const last = () => durable + (writing?.transactions.length ?? 0) + waiting.transactions.length

  /** What was decided upon memory that is now taken back goes with it. */
  const fail = (error: unknown, batches: readonly Batch[]) => {
    waiting = newBatch()
    for (const writes of batches.flatMap((batch) => batch.undo).reverse()) undo(writes)
    for (const batch of batches) batch.settle(unavailable(error))
  }
  const writeBatch = async (batch: Batch) => {
    writing = batch
    waiting = newBatch()
    try {
      await write(encode(durable + 1, batch.transactions), last())
      durable += batch.transactions.length
      writing = undefined
      batch.settle()
    } catch (error) {
      writing = undefined
      fail(error, [batch, waiting])
    }
  }
  const run = async () => {
    running = true
    while (waiting.transactions.length > 0) {
      await timers.nextTurn() // Lets everybody who is ready come aboard, above all those whom the last batch set free.
      await writeBatch(waiting)
    }
    running = false
  }
  return {
    sequence: last,
    add(writes, undoing) {
      waiting.transactions.push(writes)
      waiting.undo.push(undoing)
      if (!running) void run()
    },
    skip: () => void (durable += 1),
    isUnwritten: (id) => idsOf(waiting).has(id) || (writing !== undefined && idsOf(writing).has(id)),
    flushed: () => (waiting.transactions.length > 0 ? waiting.done : (writing?.done ?? Promise.resolve())),
  }
}

function newBatch(): Batch {
  let settle: Batch['settle'] = () => {}
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error))
  })
  done.catch(() => {}) // Whoever waits is told; when nobody does, that is no crash.
  return { transactions: [], undo: [], ids: new Set(), noted: 0, done, settle: (error) => settle(error) }
}

/** Noted when somebody asks: most batches are on the disk before. */
function idsOf(batch: Batch): ReadonlySet<string> {
  for (; batch.noted < batch.undo.length; batch.noted++)
    for (const write of batch.undo[batch.noted] ?? [])
      batch.ids.add('put' in write ? write.put.id : write.remove)
  return batch.ids
}

export function unavailable(error: unknown): Refusal {
  const remedy =
    error instanceof FileGone
      ? 'Put the directory back, or start the service anew'
      : 'Make room or repair the disk'
  return new Refusal(
    'storage_unavailable',
    `Nothing was changed: it could not be written to disk, because ${reasonOf(error)}. ${remedy}, then send the request again; the service goes on by itself.`,
  )
}
