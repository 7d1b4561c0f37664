import type { OpenedFile, StoreFile } from '../disk.ts'
import { REPAIR_ADVICE, StoreDamaged, StoreTooNew } from '../errors.ts'
import { createLineReader } from '../snapshot/line-reader.ts'
import { createTextSharing } from '../snapshot/parse.ts'
import type { Transaction } from './line.ts'
import { scanFile } from './scan.ts'

/** Result of reading a journal. */
export interface Replay {
  /** Number of the last known transaction. */
  sequence: number
  /** Valid bytes of the journal. */
  size: number
  /** The rest: the start of a line that was never acknowledged. */
  torn: Buffer
  /** The last line is whole, but lacks its line break. */
  unended: boolean
}

/**
 * Calls `apply` for every transaction of a journal after `known`. Reads in blocks, so that a start
 * does not hold the whole file in memory.
 * @throws StoreDamaged for anything but an incomplete last line.
 */
export async function replay(
  { file, size }: OpenedFile,
  { shown }: StoreFile,
  known: number,
  apply: (transaction: Transaction) => void,
): Promise<Replay> {
  const state: Replay = { sequence: known, size: 0, torn: Buffer.alloc(0), unended: false }
  const shareTexts = createTextSharing()
  await scanFile(createLineReader(file, size), (line) => {
    if (line.kind === 'torn') {
      state.torn = Buffer.from(line.bytes)
      return
    }
    const place = { shown, line: line.number, byte: line.start }
    if (line.kind === 'newer') throw newer(place, line.why)
    if (line.kind === 'damaged') throw damaged(place, WRONG_CHECKSUM)
    const { sequence } = line.transaction
    // The snapshot may hold any number of these lines, but after it there is no gap.
    if (sequence > state.sequence + 1) throw gap(place, state.sequence + 1, sequence)
    if (sequence > state.sequence) {
      for (const write of line.transaction.writes)
        if (write.collection === 'checks' && 'put' in write) shareTexts(write.put)
      apply(line.transaction)
      state.sequence = sequence
    }
    state.unended = !line.ended
    state.size = line.end
  })
  return state
}

interface LinePlace {
  shown: string
  line: number
  byte: number
}

/** What is wrong with a line, after its place. */
export const WRONG_CHECKSUM = 'its checksum does not match'
export const gapText = (found: number, wanted: number) =>
  `it contains transaction ${found}, expected ${wanted}`

function damaged({ shown, line, byte }: LinePlace, why: string): StoreDamaged {
  return new StoreDamaged(`${shown} line ${line} is damaged, at byte ${byte}: ${why}. ${REPAIR_ADVICE}`)
}

function gap(place: LinePlace, wanted: number, found: number): StoreDamaged {
  return damaged(place, `${gapText(found, wanted)}, so transactions or the matching db.json are missing`)
}

function newer({ shown, line }: LinePlace, why: string): StoreTooNew {
  return new StoreTooNew(
    `${shown} line ${line} was written by a newer version of Tabwire: ${why}. Nothing was changed. Use that version, or choose another directory.`,
  )
}
