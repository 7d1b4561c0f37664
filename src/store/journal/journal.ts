import { truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../replace-file.ts'
import { removeFile, type OpenFile, type StoreFile } from '../disk.ts'
import { openAppendFile } from './append-file.ts'
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
  /** @throws FileGone when the current file was deleted, moved or replaced; then no file may be created or renamed there. */
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
export interface FoundJournals {
  current: Pick<Replay, 'size' | 'unended'> | undefined
  old: Pick<Replay, 'size' | 'torn'> | undefined
}

export async function openJournal(
  files: JournalFiles,
  found: FoundJournals,
  openFile: OpenFile,
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
  if (found.old !== undefined && found.old.torn.length > 0) await truncate(files.old.path, found.old.size)
  let oldSize = found.old?.size
  let file = await open(found.current?.size ?? 0)
  if (found.current?.unended) await file.append(Buffer.from('\n'))
  /** True when the current file was renamed and no new one could be opened; lines are still written to it. */
  let renamed = false

  const dropOld = async () => {
    if (renamed) return
    await removeFile(files.old)
    oldSize = undefined
  }
  return {
    size: () => (oldSize ?? 0) + file.size(),
    append: (bytes) => file.append(bytes),
    requireInPlace: () => file.requireInPlace(),
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
