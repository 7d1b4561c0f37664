import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writePrivateFile } from '../private-file.ts'
import { readWhenFree } from '../replace-file.ts'
import { createSerialQueue } from './pump-timing.ts'

/** A clock as it is stored. */
interface StoredClock {
  /** Milliseconds ahead of real time. */
  offset_ms: number
  /** Time at which a frozen clock stands, in milliseconds since 1970. */
  stands_at?: number | undefined
}

/** A clock file that is damaged, of a newer version, or may not be read. */
interface UnreadableClock {
  /** Sentence with the file and the reason. */
  unreadable: string
}

/** Stores the clock, so that a restart keeps its offset from real time, or the time at which it is frozen. */
export interface ClockFile {
  /** Returns `undefined` when the clock was never saved, and why when its file cannot be used. */
  read(): Promise<StoredClock | UnreadableClock | undefined>
  /** Stores the milliseconds ahead of real time, and the time of a frozen clock. */
  save(offsetMs: number, standsAt?: number): Promise<void>
}

/** Stores the clock in `clock.json` of a data directory; without a directory, stores nothing. */
export function createClockFile(directory: string | undefined): ClockFile {
  if (directory === undefined) return { read: async () => undefined, save: async () => {} }
  const path = join(directory, 'clock.json')
  // One save after the other, so that the setting that was saved last stays.
  const serially = createSerialQueue()
  return {
    async read() {
      // With a slash on every system, as messages name the store's files.
      const shown = `${basename(join(directory, '.'))}/clock.json`
      let text
      try {
        text = await readWhenFree(() => readFile(path, 'utf8'))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        return code === 'ENOENT' ? undefined : { unreadable: `Cannot read ${shown} (${code}).` }
      }
      const [, offset, standsAt] =
        /^\{"offset_ms":(-?\d{1,15})(?:,"stands_at":(-?\d{1,15}))?\}\s*$/.exec(text) ?? []
      if (offset === undefined)
        return { unreadable: `Cannot read ${shown}: it is damaged, or a newer version wrote it.` }
      return { offset_ms: Number(offset), ...(standsAt !== undefined && { stands_at: Number(standsAt) }) }
    },
    // The store creates the directory; a directory deleted since is not created again.
    save(offset_ms, stands_at) {
      const text = `${JSON.stringify({ offset_ms, stands_at })}\n`
      return serially(() => writePrivateFile(path, text))
    },
  }
}

const NO_CLOCK_FILE =
  'To continue at another time, stop the service, then restore the file or pass a later time with --clock.'

interface StartInputs {
  /** Requested start time. */
  wanted: Date | undefined
  stored: StoredClock | UnreadableClock | undefined
  /** The newest event in the store. */
  newest: { created_at: string } | undefined
  now: Date
}

/**
 * Returns the time at which the clock starts, and whether it is frozen; `undefined` means real time. A requested time counts,
 * but never before the time that the clock had reached: the time at which it was frozen, real time with the saved offset, or
 * without either, the time of the newest event. Without a requested time, the clock continues as it was. A file that cannot be
 * used counts as missing.
 */
export function initialClockTime({
  wanted,
  stored,
  newest,
  now,
}: StartInputs): { time: Date; frozen?: boolean; notice?: string } | undefined {
  if (stored !== undefined && 'unreadable' in stored) {
    const without = initialClockTime({ wanted, stored: undefined, newest, now })
    const { time = now, notice } = without ?? {}
    const start = `The clock starts at ${time.toISOString()}, as without the file.`
    return { ...without, time, notice: [stored.unreadable, notice ?? start, NO_CLOCK_FILE].join(' ') }
  }
  const { offset_ms, stands_at } = stored ?? {}
  const continued = offset_ms === undefined ? undefined : new Date(stands_at ?? now.getTime() + offset_ms)
  if (wanted === undefined) {
    if (continued === undefined) return undefined
    if (stands_at !== undefined)
      return {
        time: continued,
        frozen: true,
        notice: `The clock is still frozen at ${continued.toISOString()}. Let it run with: tabwire clock freeze --off`,
      }
    if (offset_ms === 0) return undefined
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
