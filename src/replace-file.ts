import { open, rename } from 'node:fs/promises'
import { timers } from './timers.ts'

/** Error codes on Windows while a virus scanner, an indexer or an editor has the file open, for a short time. */
const passing = new Set(['EPERM', 'EBUSY', 'EACCES'])

/** Milliseconds between tries, 1.3 seconds in all: scanners are done by then. */
const PAUSES_MS: readonly number[] = [10, 20, 40, 80, 160, 320, 640]

/**
 * Replaces a file by another in one step. Retries while another program has it open; then rejects with the last error
 * and leaves both files as they are. Never writes into the existing file.
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

/** Makes created, renamed or removed entries of a directory durable. Windows does this by itself. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
