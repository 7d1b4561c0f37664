import { noRecords, type CollectionName, type Collections } from '../../model/records.ts'
import type { Changes } from './changes.ts'
import type { OldLines } from './old-lines.ts'
import { recordJson } from '../record-json.ts'
import { collectionNames } from '../tables/tables.ts'

/** All records as of one transaction. */
export interface Snapshot {
  /** The number of that transaction. */
  sequence: number
  /** True when the store was closed with it, so that it needs no journal. */
  closed: boolean
  records: { readonly [C in CollectionName]: Iterable<Collections[C]> }
  /** The records that differ from the snapshot on disk; all when unknown. */
  changes?: Pick<Changes, 'has'>
}

/** `undefined` asks the writer to read more old lines. */
export type Piece = string | Buffer | undefined

export function emptySnapshot(): Snapshot {
  return { sequence: 0, closed: false, records: noRecords }
}

/** Increases when older versions of Tabwire could no longer read the file. */
export const FORMAT = 1

/**
 * Returns the text of a snapshot without its checksum, in pieces: one record a line, to be readable and diffable. Unchanged
 * records are copied from the `old` lines.
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
