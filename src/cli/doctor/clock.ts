import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { moment } from '../render/words.ts'
import type { Finding, Surroundings } from './finding.ts'

/** File systems round, and machines differ a little, in milliseconds. */
const TOLERANCE_MS = 60_000

/**
 * Whether the clock can be right. Offline there is one thing to tell it by: nothing was written in the future. That it is
 * ahead cannot be told in this way, which is said.
 */
export async function checkClock({ directory, now }: Surroundings): Promise<Finding> {
  const time = `${moment(now.toISOString())} UTC`
  const newest = await newestIn(directory)
  if (newest !== undefined && newest.at.getTime() > now.getTime() + TOLERANCE_MS)
    return {
      check: 'clock',
      level: 'note',
      message: `The clock says ${time}, but ${newest.name} was written at ${moment(newest.at.toISOString())}: it is behind, or was ahead then.`,
      advice:
        'Set it by the network. Signatures are dated by it, and receivers refuse those of another time.',
    }
  const compared =
    newest === undefined
      ? 'there is nothing here to compare it with'
      : 'later than all that was written here; whether it is ahead cannot be told offline'
  return { check: 'clock', level: 'good', message: `The clock says ${time}; ${compared}.` }
}

/** The file of the data directory that was written last. */
async function newestIn(directory: string): Promise<{ name: string; at: Date } | undefined> {
  const names = await readdir(directory).catch((): string[] => [])
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(directory, name)).catch(() => undefined))?.mtime,
    })),
  )
  return files
    .flatMap(({ name, at }) => (at === undefined ? [] : [{ name, at }]))
    .sort((one, other) => other.at.getTime() - one.at.getTime())[0]
}
