import type { Low } from 'lowdb'
import { readWhole, type StoreFile } from './disk.ts'
import { MEND, StoreDamaged } from './errors.ts'
import { fannedOut } from './fan-out.ts'
import type { JournalFiles } from './journals.ts'
import { replay, type Replay } from './replay.ts'
import { foreign } from './read-snapshot.ts'
import { emptySnapshot, type Snapshot } from './snapshot-text.ts'
import { collectionNames, type Tables } from './tables.ts'

/** Told what somebody should know though it stops nothing. */
export type Notice = (message: string) => void

/** All files that hold records. */
export interface StoreFiles extends JournalFiles {
  snapshot: StoreFile
}

/** What was found on the disk. */
export interface Loaded {
  /** The number of the last transaction. */
  sequence: number
  /** Whether the snapshot says that it holds everything; `undefined` when there is none. */
  closed: boolean | undefined
  /** Where each journal is good up to; `undefined` when there is none. */
  current: Replay | undefined
  old: Replay | undefined
}

/**
 * Fills the tables: first the snapshot, then the journals on top of it. `leftOpen`: the last process that had the
 * directory did not close it, so there was a journal.
 * @throws StoreDamaged for anything but a last line that was never acknowledged, which is left out.
 */
export async function load(
  low: Low<Snapshot>,
  files: StoreFiles,
  tables: Tables,
  leftOpen: boolean,
): Promise<Loaded> {
  const found = await loadSnapshot(low, files.snapshot, tables)
  const [oldBytes, currentBytes] = [await readWhole(files.old), await readWhole(files.current)]
  if (found.closed === false || (found.closed && leftOpen))
    if (oldBytes === undefined && currentBytes === undefined) throw journalMissing(files)
  const read = (bytes: Buffer | undefined, file: StoreFile, known: number) =>
    bytes && replay(bytes, file, known, ({ writes }) => tables.apply(fannedOut(writes)))
  const old = read(oldBytes, files.old, found.sequence)
  if (old !== undefined && old.torn.length > 0 && (currentBytes?.length ?? 0) > 0)
    throw tornInTheMiddle(files)
  const current = read(currentBytes, files.current, old?.sequence ?? found.sequence)
  return { ...found, sequence: current?.sequence ?? old?.sequence ?? found.sequence, current, old }
}

async function loadSnapshot(
  low: Low<Snapshot>,
  { shown }: StoreFile,
  tables: Tables,
): Promise<Pick<Loaded, 'sequence' | 'closed'>> {
  const none = low.data
  await low.read()
  const { sequence, closed, records } = low.data
  const found = { sequence, closed: low.data === none ? undefined : closed }
  low.data = emptySnapshot() // The tables have the records from here on.
  for (const name of collectionNames)
    for (const record of records[name])
      if (tables.of(name).put(record) !== undefined)
        throw foreign(shown, `two of its ${name} have the "id" ${record.id}`)
  return found
}

function journalMissing({ snapshot, current }: StoreFiles): StoreDamaged {
  return new StoreDamaged(
    `${current.shown} is missing: ${snapshot.shown} is there, but the store was not closed after it, so more had been acknowledged. ${MEND}`,
  )
}

function tornInTheMiddle({ old, current }: StoreFiles): StoreDamaged {
  return new StoreDamaged(
    `${old.shown} is damaged: its last line is not whole, though ${current.shown} follows it. ${MEND}`,
  )
}
