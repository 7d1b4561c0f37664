import type { CollectionName } from '../../model/records.ts'
import type { StoreFile } from '../disk.ts'
import { StoreDamaged, StoreTooNew } from '../errors.ts'
import { parseSnapshot } from '../read-snapshot.ts'
import type { Snapshot } from '../snapshot-text.ts'
import { collectionNames } from '../tables.ts'
import { salvage, type Salvaged } from './salvage.ts'

/** What is in the snapshot, and when it is damaged, what of it can be kept. */
export type SnapshotVerdict =
  | { kind: 'none' }
  | { kind: 'whole'; sequence: number; closed: boolean; records: number }
  | { kind: 'newer'; why: string }
  | { kind: 'damaged'; why: string; salvaged: Salvaged }

export function judgeSnapshot(bytes: Buffer | undefined, file: StoreFile): SnapshotVerdict {
  if (bytes === undefined) return { kind: 'none' }
  try {
    const { sequence, closed, records } = withoutRepeats(parseSnapshot(bytes, file), file)
    const total = collectionNames.reduce((sum, name) => sum + [...records[name]].length, 0)
    return { kind: 'whole', sequence, closed, records: total }
  } catch (error) {
    if (error instanceof StoreTooNew) return { kind: 'newer', why: error.message }
    if (error instanceof StoreDamaged)
      return { kind: 'damaged', why: error.message, salvaged: salvage(bytes) }
    throw error
  }
}

function withoutRepeats(snapshot: Snapshot, { shown }: StoreFile): Snapshot {
  const repeated = collectionNames.find((name) => repeats(snapshot.records, name))
  if (repeated === undefined) return snapshot
  throw new StoreDamaged(`${shown} is not a snapshot of Tabwire: two of its ${repeated} have the same "id".`)
}

function repeats(records: Snapshot['records'], name: CollectionName): boolean {
  const ids = [...records[name]].map(({ id }: { id: string }) => id)
  return new Set(ids).size < ids.length
}
