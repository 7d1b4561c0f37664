import { randomBytes } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
  return {
    async read() {
      await removeStrays(file)
      const bytes = await readWhole(file)
      return bytes === undefined ? null : parseSnapshot(bytes, file)
    },
    async write(snapshot) {
      const temporary = { path: `${file.path}.${randomBytes(4).toString('hex')}.tmp` }
      try {
        // A new file under a name that nobody can foresee: a link in its place would lead the writing elsewhere.
        await writeDurably(await openFile(temporary.path, 'wx', OWNER_ONLY), snapshot)
        await rename(temporary.path, file.path)
      } catch (error) {
        await removeFile(temporary).catch(() => {}) // A full disk is why it failed: this gives the room back.
        throw error
      }
      await syncDirectory(dirname(file.path))
    },
  }
}

/** Whether a file is what an interrupted writing of the snapshot has left. */
export function isStray(name: string): boolean {
  return /^db\.json\.(?:[0-9a-f]{8}\.)?tmp$/.test(name)
}

async function removeStrays({ path }: StoreFile): Promise<void> {
  const directory = dirname(path)
  const strays = (await readdir(directory)).filter(isStray)
  for (const name of strays) await removeFile({ path: join(directory, name) })
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
