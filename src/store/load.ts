import type { Low } from 'lowdb'
import { readWhole, type StoreFile } from './disk.ts'
import { StoreDamaged } from './errors.ts'
import type { JournalFiles } from './journals.ts'
import { replay, type Replay } from './replay.ts'
import { foreign } from './read-snapshot.ts'
import type { Snapshot } from './snapshot-text.ts'
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
  /** Where each journal is good up to; `undefined` when there is none. */
  current: Replay | undefined
  old: Replay | undefined
}

/**
 * Fills the tables: first the snapshot, then the journals on top of it.
 * @throws StoreDamaged for anything but a last line that was never acknowledged, which is told and left out.
 */
export async function load(
  low: Low<Snapshot>,
  files: StoreFiles,
  tables: Tables,
  onNotice: Notice,
): Promise<Loaded> {
  const sequence = await loadSnapshot(low, files.snapshot, tables)
  const [oldBytes, currentBytes] = [await readWhole(files.old), await readWhole(files.current)]
  const read = (bytes: Buffer | undefined, file: StoreFile, known: number) =>
    bytes && replay(bytes, file, known, ({ writes }) => tables.apply(writes))
  const old = read(oldBytes, files.old, sequence)
  if (old !== undefined && old.torn > 0 && (currentBytes?.length ?? 0) > 0) throw tornInTheMiddle(files)
  const current = read(currentBytes, files.current, old?.sequence ?? sequence)
  tellTorn(old, files.old, onNotice)
  tellTorn(current, files.current, onNotice)
  return { sequence: current?.sequence ?? old?.sequence ?? sequence, current, old }
}

/** Returns the number of the transaction after which the snapshot was made. */
async function loadSnapshot(low: Low<Snapshot>, { shown }: StoreFile, tables: Tables): Promise<number> {
  await low.read()
  const { sequence, records } = low.data
  low.data = emptySnapshot() // The tables have the records from here on.
  for (const name of collectionNames)
    for (const record of records[name])
      if (tables.of(name).put(record) !== undefined)
        throw foreign(shown, `two of its ${name} have the "id" ${record.id}`)
  return sequence
}

export function emptySnapshot(): Snapshot {
  return {
    sequence: 0,
    records: { locations: [], keys: [], checks: [], claims: [], endpoints: [], events: [], deliveries: [] },
  }
}

function tornInTheMiddle({ old, current }: StoreFiles): StoreDamaged {
  return new StoreDamaged(
    `${old.shown} is damaged: its last line is not whole, though ${current.shown} follows it. Nothing was changed. Put back a backup; or, to keep what comes before, make a copy of the directory and delete that line and ${current.shown}.`,
  )
}

function tellTorn(found: Replay | undefined, { shown }: StoreFile, onNotice: Notice): void {
  if (found === undefined || found.torn === 0) return
  onNotice(
    `The last line of ${shown} was not written to its end (${found.torn} bytes) and is left out. It was never acknowledged: whoever sent it got no answer.`,
  )
}
