import { noRecords, type CollectionName, type Collections } from '../../model/records.ts'
import type { Changes } from './changes.ts'
import type { OldLines } from './old-lines.ts'
import { recordJson } from '../record-json.ts'
import { collectionNames } from '../tables/tables.ts'

/** Everything that is stored, as it was after one transaction. */
export interface Snapshot {
  /** The number of that transaction. */
  sequence: number
  /** Whether the store was closed with it: then it holds everything, and needs no journal beside it. */
  closed: boolean
  records: { readonly [C in CollectionName]: Iterable<Collections[C]> }
  /** Which records are not as the snapshot on the disk has them; all, when that is not known. */
  changes?: Pick<Changes, 'has'>
}

/** `undefined` in the place of an old line: more of them must be read first. */
export type Piece = string | Buffer | undefined

export function emptySnapshot(): Snapshot {
  return { sequence: 0, closed: false, records: noRecords }
}

/** Goes up when older versions of Tabwire could no longer read the file. */
export const FORMAT = 1

/**
 * The text of a snapshot but for its checksum, in pieces: one record a line, so that people can read and compare it. What
 * has not changed is copied from the `old` lines.
 */
export function snapshotText(snapshot: Snapshot): Iterable<string>
export function snapshotText(snapshot: Snapshot, old: OldLines | undefined): Iterable<Piece>
export function* snapshotText(
  { sequence, closed, records, changes }: Snapshot,
  old?: OldLines,
): Iterable<Piece> {
  yield `{\n  "format": ${FORMAT},\n  "sequence": ${sequence},\n  "closed": ${closed}`
  for (const name of collectionNames) {
    yield `,\n  "${name}": [`
    let separator = '\n    '
    for (const record of records[name]) {
      yield separator
      if (old === undefined || changes?.has(name, record.id) !== false) yield recordJson(name, record)
      else yield* oldLine(old, record.id)
      separator = ',\n    '
    }
    yield '\n  ]'
  }
  yield '\n'
}

function* oldLine(old: OldLines, id: string): Iterable<Piece> {
  let line: Buffer | undefined
  while (line === undefined) {
    line = old.find(id)
    yield line
  }
}
