import { statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../replace-file.ts'
import { OWNER_ONLY, removeFile, writeAll, type DiskFile, type OpenFile, type StoreFile } from '../disk.ts'
import { codeOf, FileGone } from '../errors.ts'
import type { Replay } from './replay.ts'

/** The current journal, and during a compaction the old one. */
export interface JournalFiles {
  current: StoreFile
  old: StoreFile
}

export interface Journal {
  /** Bytes in both files. */
  size(): number
  append(bytes: Uint8Array): Promise<void>
  /**
   * @throws FileGone when the current file was deleted, moved or replaced, or the lock is lost; then no file may be created,
   * changed or renamed there.
   */
  requireInPlace(): void
  /** Renames the current file to the old one and starts a new one; does nothing while an old one exists. */
  rotate(): Promise<void>
  /** Removes the old file, once a snapshot holds its records. */
  dropOld(): Promise<void>
  /** Removes all lines, once a snapshot holds their records. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** The valid part of each file; `undefined` when there is none. */
interface FoundJournals {
  current: Pick<Replay, 'size' | 'unended'> | undefined
  old: Pick<Replay, 'size' | 'torn'> | undefined
}

export async function openJournal(
  files: JournalFiles,
  found: FoundJournals,
  openFile: OpenFile,
  requireLock: () => void,
): Promise<Journal> {
  const directory = dirname(files.current.path)
  const open = async (size: number) => {
    const opened = await openAppendFile(files.current.path, size, openFile)
    await syncDirectory(directory).catch(async (error: unknown) => {
      await opened.close()
      throw error
    })
    return opened
  }
  if (found.old !== undefined && found.old.torn.length > 0)
    await openAppendFile(files.old.path, found.old.size, openFile).then((old) => old.close())
  let oldSize = found.old?.size
  let file = await open(found.current?.size ?? 0)
  if (found.current?.unended)
    await file.append(Buffer.from('\n')).catch(async (error: unknown) => {
      await file.close()
      throw error
    })
  /** True when the current file was renamed and no new one could be opened; lines are still written to it. */
  let renamed = false

  const requireInPlace = () => {
    file.requireInPlace()
    requireLock()
  }
  const dropOld = async () => {
    if (renamed) return
    await removeFile(files.old)
    oldSize = undefined
  }
  return {
    size: () => (oldSize ?? 0) + file.size(),
    async append(bytes) {
      requireInPlace()
      await file.append(bytes)
    },
    requireInPlace,
    async rotate() {
      if (oldSize !== undefined && !renamed) return
      if (!renamed) await file.moveTo(files.old.path)
      renamed = true
      const next = await open(0)
      const full = file
      oldSize = full.size()
      file = next
      renamed = false
      await full.close()
    },
    dropOld,
    async clear() {
      await dropOld()
      await file.empty()
    },
    close: () => file.close(),
  }
}

/** A file that only grows at its end. */
interface AppendFile {
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
async function openAppendFile(path: string, size: number, openFile: OpenFile): Promise<AppendFile> {
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
      isClean = false
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
