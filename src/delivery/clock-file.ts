import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivateFile } from '../private-file.ts'

/** How far a clock was ahead of real time when it was last moved, so that a restart does not take it back. */
export interface ClockFile {
  /** In milliseconds; `undefined` when it was never moved here, or when that cannot be read. */
  read(): Promise<number | undefined>
  save(offsetMs: number): Promise<void>
}

/** Keeps the offset in `clock.json` of a data directory; without a directory, nowhere. */
export function createClockFile(directory: string | undefined): ClockFile {
  if (directory === undefined) return { read: async () => undefined, save: async () => {} }
  const path = join(directory, 'clock.json')
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => '')
      const offset = Number(/^\{"offset_ms":(-?\d{1,15})\}\s*$/.exec(text)?.[1])
      return Number.isNaN(offset) ? undefined : offset
    },
    // The store has made the directory. One that was deleted since is not made again.
    async save(offsetMs) {
      await writePrivateFile(path, `${JSON.stringify({ offset_ms: offsetMs })}\n`)
    },
  }
}

interface StartInputs {
  /** Where the clock shall start, when somebody said so. */
  wanted: Date | undefined
  /** Where it was left, ahead of real time. */
  offset: number | undefined
  /** The newest event in the store. */
  newest: { created_at: string } | undefined
  now: Date
}

/** Where a clock starts: where it shall, but never before what has been; without a wish, where it was left. */
export function initialClockTime({
  wanted,
  offset,
  newest,
  now,
}: StartInputs): { time: Date; notice?: string } | undefined {
  const left = offset === undefined ? undefined : new Date(now.getTime() + offset)
  if (wanted === undefined)
    return left && { time: left, notice: `The clock goes on where it was left, at ${left.toISOString()}.` }
  const reached = left ?? (newest && new Date(newest.created_at))
  if (reached === undefined || wanted >= reached) return { time: wanted }
  const notice = `The clock starts at ${reached.toISOString()}, which the data has reached already: it never goes back.`
  return { time: reached, notice }
}
