import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Adapter } from 'lowdb'
import {
  OWNER_ONLY,
  readWhole,
  removeFile,
  syncDirectory,
  writeAll,
  type DiskFile,
  type OpenFile,
  type StoreFile,
} from './disk.ts'
import { parseSnapshot } from './read-snapshot.ts'
import { checksumLine, snapshotText, type Snapshot } from './snapshot-text.ts'

/** How much is serialised, in characters, before others have their turn: about a millisecond's work. */
const SLICE = 256 * 1024
/** How much is written, in bytes, before it is synced: a journal's sync waits for what other files have unwritten. */
const SYNC_EVERY = 4 * 1024 * 1024

/**
 * The file of lowdb's snapshot. Reading it gives `null` when there is none; writing it takes a while, in small steps
 * between which the service goes on, and replaces it as a whole or not at all.
 */
export function snapshotAdapter(file: StoreFile, openFile: OpenFile): Adapter<Snapshot> {
  const temporary = { path: `${file.path}.tmp`, shown: `${file.shown}.tmp` }
  return {
    async read() {
      await removeFile(temporary)
      const bytes = await readWhole(file)
      return bytes === undefined ? null : parseSnapshot(bytes, file)
    },
    async write(snapshot) {
      try {
        await writeDurably(await openFile(temporary.path, 'w', OWNER_ONLY), snapshot)
        await rename(temporary.path, file.path)
      } catch (error) {
        await removeFile(temporary).catch(() => {}) // A full disk is why it failed: this gives the room back.
        throw error
      }
      await syncDirectory(dirname(file.path))
    },
  }
}

async function writeDurably(file: DiskFile, snapshot: Snapshot): Promise<void> {
  try {
    await writeText(file, slices(snapshotText(snapshot)))
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function writeText(file: DiskFile, texts: Iterable<string>): Promise<void> {
  let crc = 0
  let position = 0
  let synced = 0
  const write = async (text: string) => {
    const bytes = Buffer.from(text)
    crc = crc32(bytes, crc)
    await writeAll(file, bytes, position)
    position += bytes.length
  }
  for (const text of texts) {
    await write(text)
    if (position - synced >= SYNC_EVERY) {
      await file.datasync()
      synced = position
    }
    await setImmediate()
  }
  await write(checksumLine(crc))
}

function* slices(pieces: Iterable<string>): Iterable<string> {
  let slice = ''
  for (const piece of pieces) {
    slice += piece
    if (slice.length < SLICE) continue
    yield slice
    slice = ''
  }
  yield slice
}
