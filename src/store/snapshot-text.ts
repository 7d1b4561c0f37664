import { noRecords, type CollectionName, type Collections } from '../model/records.ts'
import { hex } from './journal-line.ts'
import { recordText } from './record-text.ts'
import { collectionNames } from './tables.ts'

/** Everything that is stored, as it was after one transaction. */
export interface Snapshot {
  /** The number of that transaction. */
  sequence: number
  /** Whether the store was closed with it: then it holds everything, and needs no journal beside it. */
  closed: boolean
  records: { readonly [C in CollectionName]: Iterable<Collections[C]> }
}

export function emptySnapshot(): Snapshot {
  return { sequence: 0, closed: false, records: noRecords }
}

/** Goes up when older versions of Tabwire could no longer read the file. */
export const FORMAT = 1

/** The text of a snapshot but for its checksum, in pieces: one record a line, so that people can read and compare it. */
export function* snapshotText({ sequence, closed, records }: Snapshot): Iterable<string> {
  yield `{\n  "format": ${FORMAT},\n  "sequence": ${sequence},\n  "closed": ${closed}`
  for (const name of collectionNames) {
    yield `,\n  "${name}": [`
    let separator = '\n    '
    for (const record of records[name]) {
      yield separator
      yield recordText(name, record)
      separator = ',\n    '
    }
    yield '\n  ]'
  }
  yield '\n'
}

/** The comma comes first, so that a file without this line is whole: who edits the file takes the line away. */
export function checksumLine(crc: number): string {
  return `  ,"checksum": "${hex(crc)}"\n}\n`
}
