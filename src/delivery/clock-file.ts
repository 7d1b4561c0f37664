import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivateFile } from '../private-file.ts'

/** Stores how far the clock is ahead of real time, so that a restart keeps its offset. */
export interface ClockFile {
  /** Returns the offset in milliseconds; `undefined` when it was never saved or cannot be read. */
  read(): Promise<number | undefined>
  save(offsetMs: number): Promise<void>
}

/** Stores the offset in `clock.json` of a data directory; without a directory, stores nothing. */
export function createClockFile(directory: string | undefined): ClockFile {
  if (directory === undefined) return { read: async () => undefined, save: async () => {} }
  const path = join(directory, 'clock.json')
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => '')
      const offset = Number(/^\{"offset_ms":(-?\d{1,15})\}\s*$/.exec(text)?.[1])
      return Number.isNaN(offset) ? undefined : offset
    },
    // The store creates the directory; a directory deleted since is not created again.
    async save(offsetMs) {
      await writePrivateFile(path, `${JSON.stringify({ offset_ms: offsetMs })}\n`)
    },
  }
}

interface StartInputs {
  /** Requested start time. */
  wanted: Date | undefined
  /** Saved offset from real time, in milliseconds. */
  offset: number | undefined
  /** The newest event in the store. */
  newest: { created_at: string } | undefined
  now: Date
}

/**
 * Returns the time at which the clock starts; `undefined` means real time. A requested time counts, but never before the time
 * that the clock had reached: real time with the saved offset, or without one, the time of the newest event. Without a
 * requested time, the clock continues with its offset.
 */
export function initialClockTime({
  wanted,
  offset,
  newest,
  now,
}: StartInputs): { time: Date; notice?: string } | undefined {
  const continued = offset === undefined ? undefined : new Date(now.getTime() + offset)
  if (wanted === undefined) {
    if (continued === undefined || offset === 0) return undefined
    return {
      time: continued,
      notice: `The clock continues at ${continued.toISOString()}: it keeps its offset from real time.`,
    }
  }
  const reached = continued ?? (newest && new Date(newest.created_at))
  if (reached === undefined || wanted >= reached) return { time: wanted }
  const notice = `The clock starts at ${reached.toISOString()}, the time that it had reached, because it never moves back.`
  return { time: reached, notice }
}
