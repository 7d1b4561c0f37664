import { statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { OWNER_ONLY, writeAll, type DiskFile, type OpenFile } from '../disk.ts'
import { codeOf, FileGone } from '../errors.ts'

/** A file that only grows at its end. */
export interface AppendFile {
  /** Durable bytes. */
  size(): number
  /**
   * Resolves when the bytes are durable in the file at the path. When it rejects, the file is unchanged, or will be restored
   * before the next append.
   * @throws FileGone, and errors of the disk.
   */
  append(bytes: Uint8Array): Promise<void>
  /** @throws FileGone when the file was deleted, moved or replaced, alone or with its directory, since it was opened. */
  requireInPlace(): void
  /** Renames the file. @throws FileGone when the path leads to another file. */
  moveTo(path: string): Promise<void>
  empty(): Promise<void>
  close(): Promise<void>
}

/** Opens or creates a journal and cuts it to its valid `size`. */
export async function openAppendFile(path: string, size: number, openFile: OpenFile): Promise<AppendFile> {
  const file = await openOrMake(path, openFile)
  try {
    await cut(file, size)
    return appendFile(file, path, size)
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Without O_APPEND: with it, Linux ignores the position and writes after the rest of a failed write. */
async function openOrMake(path: string, openFile: OpenFile): Promise<DiskFile> {
  try {
    return await openFile(path, 'r+', OWNER_ONLY)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return openFile(path, 'wx+', OWNER_ONLY)
  }
}

/** Identifies a file independent of its path. */
function identityAt(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev} ${ino}`
}

function appendFile(file: DiskFile, initialPath: string, initialSize: number): AppendFile {
  const identity = identityAt(initialPath)
  let path = initialPath
  let size = initialSize
  let isClean = true
  /** Synchronous: it takes microseconds, while the write before it takes milliseconds. */
  const requireInPlace = () => {
    try {
      if (identityAt(path) === identity) return
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error
    }
    throw new FileGone()
  }
  const repair = async () => {
    await cut(file, size)
    isClean = true
  }
  return {
    size: () => size,
    async append(bytes) {
      if (!isClean) await repair()
      isClean = false
      try {
        await writeAll(file, bytes, size)
        if (file.writesAreDurable !== true) await file.datasync()
        // After the write, since the file may be deleted during it.
        requireInPlace()
      } catch (error) {
        await repair().catch(() => {}) // The next append tries again; until then nothing is acknowledged.
        throw error
      }
      size += bytes.length
      isClean = true
    },
    requireInPlace,
    async moveTo(to) {
      requireInPlace()
      await rename(path, to)
      path = to
    },
    async empty() {
      size = 0
      await repair()
    },
    close: () => file.close(),
  }
}

/** Cuts and syncs the file, so that a power cut does not bring back lines of a refused transaction. */
async function cut(file: DiskFile, size: number): Promise<void> {
  await file.truncate(size)
  await file.datasync()
}
