import type { OnNotice } from './recover.ts'
import { FileGone, reasonOf } from './errors.ts'
import type { Journal } from './journal/journal.ts'
import type { RecordCopies } from './tables/tables.ts'

/** A copy of all records. Call `forget` once they are in a snapshot, to drop the changes noted before. */
export interface Copy {
  records: RecordCopies
  forget: () => void
  /** The records replace all others, so nothing of the last snapshot can be copied. */
  isReplacement?: true
}

/** Compacts the journal into the snapshot while the service runs, once it is large enough. */
interface Compaction {
  isWanted(): boolean
  /** Starts a compaction with the records as of transaction `sequence`; never rejects. */
  begin(copy: Copy, sequence: number): Promise<void>
  /** Retries a failed compaction with the next transaction, since the disk accepts writes again. */
  endBackoff(): void
  /**
   * Waits for the running compaction, then replaces snapshot and journal by these records as of transaction `sequence`.
   * Rejects, and changes nothing, when they cannot be written.
   */
  replace(copy: Copy, sequence: number): Promise<void>
  /** Waits for the running compaction, then compacts everything if it is small. */
  finish(copy: Copy, sequence: number): Promise<void>
}

interface CompactionParts {
  journals: Journal
  /** Writes the snapshot, `closed` when no journal follows it; resolves with its size in bytes. */
  writeSnapshot: (copy: Copy, sequence: number, closed: boolean) => Promise<number>
  snapshotSize: number
  /** An old journal was found: a compaction was interrupted. */
  unfinished: boolean
  /** The snapshot found is marked as closed, or there is none. */
  closed: boolean
  compactAtBytes: number
  onNotice: OnNotice
}

/** About 250 ms of work. The next start reads a larger journal anyway. */
const COMPACT_AT_CLOSE_BYTES = 32 * 1024 * 1024

export function createCompaction(parts: CompactionParts): Compaction {
  const { journals, writeSnapshot, compactAtBytes, onNotice } = parts
  let { snapshotSize, closed } = parts
  const usualThreshold = () => Math.max(snapshotSize, compactAtBytes)
  let threshold = parts.unfinished ? 0 : usualThreshold()
  let underWay: Promise<void> | undefined

  /**
   * After a failure, snapshot and journals together still hold all records. Touches nothing when the directory was
   * replaced by another one.
   */
  const tryCompact = async (compact: () => Promise<void>) => {
    try {
      journals.requireInPlace()
      await compact()
      threshold = usualThreshold()
    } catch (error) {
      threshold = journals.size() + compactAtBytes
      const outlook =
        error instanceof FileGone
          ? 'Nothing was created or changed.'
          : 'Nothing is lost. The journal grows until a later compaction succeeds.'
      onNotice(`Cannot compact the journal into the snapshot: ${reasonOf(error)}. ${outlook}`)
    }
  }
  const snapshot = async (copy: Copy, sequence: number, last: boolean) => {
    snapshotSize = await writeSnapshot(copy, sequence, last)
    closed = last
  }
  return {
    isWanted: () => underWay === undefined && journals.size() > threshold,
    begin: (copy, sequence) =>
      tryCompact(async () => {
        await journals.rotate()
        underWay = tryCompact(async () => {
          await snapshot(copy, sequence, false)
          await journals.dropOld()
        }).finally(() => (underWay = undefined))
      }),
    endBackoff: () => (threshold = Math.min(threshold, usualThreshold())),
    async replace(copy, sequence) {
      await underWay
      journals.requireInPlace()
      await snapshot(copy, sequence, false)
      // The snapshot counts from here on. Older journal lines are skipped, and dropped by the next compaction.
      await journals.clear().then(
        () => (threshold = usualThreshold()),
        () => (threshold = 0),
      )
    },
    async finish(copy, sequence) {
      await underWay
      if (journals.size() === 0 && closed) return
      if (journals.size() + snapshotSize > COMPACT_AT_CLOSE_BYTES) return
      await tryCompact(async () => {
        await snapshot(copy, sequence, true)
        await journals.clear()
      })
    },
  }
}
