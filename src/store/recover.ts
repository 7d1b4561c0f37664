import type { Low } from 'lowdb'
import { withFile, type OpenedFile, type StoreFile, fileIn, writeNewFile } from './disk.ts'
import { REPAIR_ADVICE, StoreDamaged } from './errors.ts'
import type { JournalFiles } from './journal/journal.ts'
import { replay, type Replay } from './journal/replay.ts'
import { notASnapshot } from './snapshot/parse.ts'
import { emptySnapshot, type Snapshot } from './snapshot/text.ts'
import { collectionNames, type Tables } from './tables/tables.ts'
import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { syncDirectory } from '../replace-file.ts'

/** Receives messages about problems that do not stop the service. */
export type OnNotice = (message: string) => void

/** The files that hold records. */
interface StoreFiles extends JournalFiles {
  snapshot: StoreFile
}

/** Result of a recovery from disk. */
interface Recovered {
  /** Number of the last transaction. */
  sequence: number
  /** True when the snapshot is marked as closed; `undefined` when there is none. */
  closed: boolean | undefined
  /** The replay of each journal; `undefined` when there is none. */
  current: Replay | undefined
  old: Replay | undefined
}

/**
 * Fills the tables from the snapshot and the journals after it. `leftOpen`: the last process did not close the directory,
 * so a journal must exist.
 * @throws StoreDamaged for any damage but a torn last line, which was never acknowledged and is dropped.
 */
export async function recover(
  low: Low<Snapshot>,
  files: StoreFiles,
  tables: Tables,
  leftOpen: boolean,
): Promise<Recovered> {
  const found = await recoverSnapshot(low, files.snapshot, tables)
  const read = async (opened: OpenedFile | undefined, file: StoreFile, known: number) =>
    opened && replay(opened, file, known, ({ writes }) => tables.apply(writes))
  return withFile(files.current, (currentFile) =>
    withFile(files.old, async (oldFile) => {
      if (found.closed === false || (found.closed && leftOpen))
        if (oldFile === undefined && currentFile === undefined) throw journalMissing(files)
      const old = await read(oldFile, files.old, found.sequence)
      if (old !== undefined && old.torn.length > 0 && (currentFile?.size ?? 0) > 0) throw tornBetween(files)
      const current = await read(currentFile, files.current, old?.sequence ?? found.sequence)
      return { ...found, sequence: current?.sequence ?? old?.sequence ?? found.sequence, current, old }
    }),
  )
}

async function recoverSnapshot(
  low: Low<Snapshot>,
  { shown }: StoreFile,
  tables: Tables,
): Promise<Pick<Recovered, 'sequence' | 'closed'>> {
  const none = low.data
  await low.read()
  const { sequence, closed, records } = low.data
  const found = { sequence, closed: low.data === none ? undefined : closed }
  low.data = emptySnapshot() // The tables hold the records from here on.
  for (const name of collectionNames)
    for (const record of records[name])
      if (tables.of(name).put(record) !== undefined)
        throw notASnapshot(shown, `two of its ${name} have the "id" ${record.id}`)
  return found
}

function journalMissing({ snapshot, current }: StoreFiles): StoreDamaged {
  return new StoreDamaged(
    `${current.shown} is missing. The store was not closed after ${snapshot.shown} was written, so later acknowledged writes are lost. ${REPAIR_ADVICE}`,
  )
}

function tornBetween({ old, current }: StoreFiles): StoreDamaged {
  return new StoreDamaged(
    `${old.shown} is damaged: its last line is incomplete, but ${current.shown} follows it. ${REPAIR_ADVICE}`,
  )
}

/** Saves the torn last line of each journal in a file beside it, under a new name each time, for inspection. */
export async function saveTornLines(
  files: StoreFiles,
  { old, current }: Recovered,
  onNotice: OnNotice,
): Promise<void> {
  if (old !== undefined && old.torn.length > 0) await saveAside(files.old, old.torn, onNotice)
  if (current !== undefined && current.torn.length > 0) await saveAside(files.current, current.torn, onNotice)
}

async function saveAside(journal: StoreFile, tail: Buffer, onNotice: OnNotice): Promise<void> {
  const directory = dirname(journal.path)
  const aside = fileIn(directory, freeName(await readdir(directory), `${basename(journal.path)}.torn`))
  await writeNewFile(aside.path, tail)
  await syncDirectory(directory)
  onNotice(
    `The last line of ${journal.shown} is incomplete (${tail.length} bytes) and was never acknowledged. It is ignored, and kept in ${aside.shown}.`,
  )
}

/** Returns the first unused name of `db.json.damaged-1`, `db.json.damaged-2` … */
export function freeName(taken: readonly string[], name: string): string {
  for (let number = 1; ; number += 1) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`
}
