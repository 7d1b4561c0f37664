import { open, rename } from 'node:fs/promises'
import { timers } from './timers.ts'

/** What Windows answers while a virus scanner, an indexer or an editor has the file open, which is over soon. */
const passing = new Set(['EPERM', 'EBUSY', 'EACCES'])

/** Milliseconds between tries, 1.3 seconds in all: scanners are done by then. */
const PAUSES_MS: readonly number[] = [10, 20, 40, 80, 160, 320, 640]

/**
 * Puts a file in the place of another as a whole, again and again while somebody holds the other one open. Where that
 * does not end, it rejects with the last error and leaves both as they are: it never writes into the file that is there.
 */
export async function replaceFile(
  from: string,
  to: string,
  { move = rename, pausesMs = PAUSES_MS } = {},
): Promise<void> {
  for (const pause of pausesMs) {
    try {
      return await move(from, to)
    } catch (error) {
      if (!passing.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      await timers.sleep(pause)
    }
  }
  await move(from, to)
}

/** Makes files that were made, renamed or removed in a directory stay so after a power cut. Windows does this by itself. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
