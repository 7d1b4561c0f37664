import { OWNER_ONLY, writeAll, type DiskFile, type OpenFile } from './disk.ts'
import { codeOf } from './errors.ts'

/** A file that only grows at its end, and whose end is known to be good. */
export interface JournalFile {
  /** Bytes that are safely on the disk. */
  size(): number
  /** Resolves once the bytes are on the disk; when it rejects, the file is as it was, or will be before the next append. */
  append(bytes: Uint8Array): Promise<void>
  empty(): Promise<void>
  close(): Promise<void>
}

/** Opens a journal, or makes it, and cuts off what lies behind its good `size`. */
export async function openJournalFile(path: string, size: number, openFile: OpenFile): Promise<JournalFile> {
  const file = await openOrMake(path, openFile)
  try {
    await cut(file, size)
  } catch (error) {
    await file.close()
    throw error
  }
  return journalFile(file, size)
}

/** Without O_APPEND, which would make Linux write at the end that a failed write has left, wherever it was told to. */
async function openOrMake(path: string, openFile: OpenFile): Promise<DiskFile> {
  try {
    return await openFile(path, 'r+', OWNER_ONLY)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return openFile(path, 'wx+', OWNER_ONLY)
  }
}

function journalFile(file: DiskFile, initialSize: number): JournalFile {
  let size = initialSize
  let clean = true
  const repair = async () => {
    await cut(file, size)
    clean = true
  }
  return {
    size: () => size,
    async append(bytes) {
      if (!clean) await repair()
      clean = false
      try {
        await writeAll(file, bytes, size)
        if (file.writesAreDurable !== true) await file.datasync()
      } catch (error) {
        await repair().catch(() => {}) // The next append tries again; until then nothing is acknowledged.
        throw error
      }
      size += bytes.length
      clean = true
    },
    async empty() {
      size = 0
      await repair()
    },
    close: () => file.close(),
  }
}

/** Synced, lest a power cut bring back the lines of a transaction that was refused. */
async function cut(file: DiskFile, size: number): Promise<void> {
  await file.truncate(size)
  await file.datasync()
}
