import type { Notice } from './recover.ts'
import { FileGone, reasonOf } from './errors.ts'
import type { Journal } from './journal/journal.ts'
import type { RecordCopies } from './tables/tables.ts'

/** All records as they are at one moment; once they are in a snapshot, `forget` what had changed until then. */
export interface Copy {
  records: RecordCopies
  forget: () => void
  /** They are not what has changed since, but others: nothing of the last snapshot holds. */
  isReplacement?: true
}

/** Folds the journal into the snapshot beside the running service, when it has grown enough. */
export interface Compaction {
  isWanted(): boolean
  /** Begins a fold of these records, as they are after transaction `sequence`; never rejects. */
  begin(copy: Copy, sequence: number): Promise<void>
  /** There is room on the disk again: a fold that failed is tried again with the next transaction. */
  endBackoff(): void
  /**
   * Waits for the fold that is under way, then puts these records in the place of snapshot and journals, as they are after
   * transaction `sequence`. Rejects when that could not be written; then nothing is changed.
   */
  replace(copy: Copy, sequence: number): Promise<void>
  /** Waits for the fold that is under way, then folds everything, if that is quickly done. */
  finish(copy: Copy, sequence: number): Promise<void>
}

interface CompactionParts {
  journals: Journal
  /** Writes the snapshot, `closed` when nothing will follow it, and tells its size in bytes. */
  writeSnapshot: (copy: Copy, sequence: number, closed: boolean) => Promise<number>
  snapshotSize: number
  /** An old journal was found: a fold was cut short. */
  unfinished: boolean
  /** The snapshot that was found says that it holds everything; or there is none. */
  closed: boolean
  compactAtBytes: number
  onNotice: Notice
}

/** About a quarter of a second's work; more than that is left to the next start, which reads the journal anyway. */
const COMPACT_AT_CLOSE_BYTES = 32 * 1024 * 1024

export function createCompaction(parts: CompactionParts): Compaction {
  const { journals, writeSnapshot, compactAtBytes, onNotice } = parts
  let { snapshotSize, closed } = parts
  const usualThreshold = () => Math.max(snapshotSize, compactAtBytes)
  let threshold = parts.unfinished ? 0 : usualThreshold()
  let underWay: Promise<void> | undefined

  /**
   * Whatever goes wrong, snapshot and journals together still hold everything. In another directory that has taken the
   * place of this one, nothing is touched.
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
          ? 'Nothing was made or changed in its place.'
          : 'Nothing is lost, the journal goes on growing; it is tried again later.'
      onNotice(`The journal could not be folded into the snapshot: ${reasonOf(error)}. ${outlook}`)
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
      // The snapshot is what holds from here on. What a journal says before it is passed over, and dropped by the next fold.
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
