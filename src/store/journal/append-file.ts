import { statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { OWNER_ONLY, writeAll, type DiskFile, type OpenFile } from '../disk.ts'
import { codeOf, FileGone } from '../errors.ts'

/** A file that only grows at its end, and whose end is known to be good. */
export interface AppendFile {
  /** Bytes that are safely on the disk. */
  size(): number
  /**
   * Resolves once the bytes are on the disk, in the file that the path leads to. When it rejects, the file is as it was,
   * or will be before the next append.
   * @throws FileGone, and what the disk answers.
   */
  append(bytes: Uint8Array): Promise<void>
  /** @throws FileGone when the file was deleted, or it or its directory moved or replaced, since it was opened. */
  requireInPlace(): void
  /** Gives it another path. @throws FileGone, when another file would get it. */
  moveTo(path: string): Promise<void>
  empty(): Promise<void>
  close(): Promise<void>
}

/** Opens a journal, or makes it, and cuts off what lies behind its good `size`. */
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

/** Without O_APPEND, which would make Linux write at the end that a failed write has left, wherever it was told to. */
async function openOrMake(path: string, openFile: OpenFile): Promise<DiskFile> {
  try {
    return await openFile(path, 'r+', OWNER_ONLY)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return openFile(path, 'wx+', OWNER_ONLY)
  }
}

/** Names a file whatever its path is. */
function identityAt(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev} ${ino}`
}

function appendFile(file: DiskFile, initialPath: string, initialSize: number): AppendFile {
  const identity = identityAt(initialPath)
  let path = initialPath
  let size = initialSize
  let isClean = true
  /** Asks the system at once and not in the background: it takes microseconds, and the write before it milliseconds. */
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
        // Not before: it may be deleted while it is written.
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

/** Synced, lest a power cut bring back the lines of a transaction that was refused. */
async function cut(file: DiskFile, size: number): Promise<void> {
  await file.truncate(size)
  await file.datasync()
}
