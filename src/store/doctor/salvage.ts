import { crc32 } from 'node:zlib'
import { isObject } from '../../model/validation.ts'
import { isTooLong, linesOf } from '../snapshot/parse.ts'
import { recordFrom } from '../record-json.ts'
import { checksumLine, snapshotText, type Snapshot } from '../snapshot/text.ts'
import { collectionNames } from '../tables/tables.ts'

/** The readable part of a damaged snapshot. */
export interface Salvaged {
  /** Its transaction number, if readable. */
  sequence: number | undefined
  records: Readonly<Record<string, readonly { id: string }[]>>
  kept: number
  /** The first line that could not be kept; `undefined` when none was lost, or the file was read as a whole. */
  firstLost: number | undefined
  lost: number
}

/** Reads a damaged snapshot record by record: as a whole if it is JSON in any layout, else line by line. */
export function salvage(bytes: Buffer): Salvaged {
  return (isTooLong(bytes.length) ? undefined : salvageWhole(bytes)) ?? salvageLines(bytes)
}

function salvageWhole(bytes: Buffer): Salvaged | undefined {
  const content = parsed(bytes.toString().replace(/^\ufeff/, ''))
  if (!isObject(content)) return undefined
  const found = gatherer()
  if (Number.isSafeInteger(content.sequence)) found.sequence = Number(content.sequence)
  // Also of unknown names, whose records are lost.
  for (const [name, records] of Object.entries(content))
    if (Array.isArray(records)) for (const record of records) found.take(name, record, undefined)
  return found.result()
}

function salvageLines(bytes: Buffer): Salvaged {
  const found = gatherer()
  let name: string | undefined
  let number = 0
  for (const line of linesOf(bytes)) {
    number += 1
    const record = /^\s*(\{.*\}),?\s*$/.exec(line)?.[1]
    const [, field, value] = /^\s*,?"(\w+)":\s*(\[|\d+)?/.exec(line) ?? []
    if (record !== undefined) found.take(name, parsed(record), number)
    else if (field === 'sequence') found.sequence = Number(value)
    else if (value === '[') name = field
    else if (!isFrame(line)) {
      found.lose(number)
      // Lines with two blanks begin a list. Whose records follow is not known.
      if (!line.startsWith('    ')) name = undefined
    }
  }
  return found.result()
}

/** True for lines of a snapshot without a record. */
function isFrame(line: string): boolean {
  return /^\s*(?:[{}\]],?|,?"(?:format|closed|checksum)": .*)?\s*$/.test(line)
}

function gatherer() {
  const collections = new Map<string, Map<string, { id: string }>>()
  let firstLost: number | undefined
  let lost = 0
  const lose = (line: number | undefined) => {
    lost += 1
    firstLost ??= line
  }
  return {
    sequence: undefined as number | undefined,
    lose,
    take(name: string | undefined, found: unknown, line: number | undefined) {
      const known = name !== undefined && collectionNames.some((each) => each === name)
      const record = recordFrom(name, found)
      if (!known || record === undefined) return lose(line)
      const records = collections.get(name) ?? new Map<string, { id: string }>()
      collections.set(name, records.set(record.id, record))
    },
    result(): Salvaged {
      const records = Object.fromEntries([...collections].map(([name, byId]) => [name, [...byId.values()]]))
      const kept = Object.values(records).reduce((sum, { length }) => sum + length, 0)
      const sequence = Number.isSafeInteger(this.sequence) ? this.sequence : undefined
      return { sequence, records, kept, firstLost, lost }
    },
  }
}

/** Returns a new snapshot of the salvaged records, `closed` so that it needs no journal. */
export function snapshotOf({ records }: Salvaged, sequence: number): Buffer {
  const all = Object.fromEntries(collectionNames.map((name) => [name, records[name] ?? []]))
  const snapshot = { sequence, closed: true, records: all as unknown as Snapshot['records'] }
  // Not one string: it may exceed the longest possible string.
  const text = Buffer.concat(Array.from(snapshotText(snapshot), (piece) => Buffer.from(piece)))
  return Buffer.concat([text, Buffer.from(checksumLine(crc32(text)))])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
