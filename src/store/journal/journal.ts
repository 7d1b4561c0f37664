import { truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../replace-file.ts'
import { removeFile, type OpenFile, type StoreFile } from '../disk.ts'
import { openAppendFile } from './append-file.ts'
import type { Replay } from './replay.ts'

/** The journal, and beside it, while a snapshot is being made of what it holds, the old one. */
export interface JournalFiles {
  current: StoreFile
  old: StoreFile
}

export interface Journal {
  /** Bytes in both. */
  size(): number
  append(bytes: Uint8Array): Promise<void>
  /** @throws FileGone when the current one was deleted, moved or replaced; then nothing may be made or renamed there. */
  requireInPlace(): void
  /** Goes on in a new file, and keeps what there is as the old one; unless there is an old one yet. */
  rotate(): Promise<void>
  /** Removes the old journal: a snapshot holds what it says. */
  dropOld(): Promise<void>
  /** Removes everything: a snapshot holds all of it. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** How far each journal is good; `undefined` when there is none. */
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
  /** Set when the journal was renamed and no new one could be opened: it is still the one that is written. */
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
