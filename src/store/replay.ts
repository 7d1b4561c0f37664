import type { StoreFile } from './disk.ts'
import { StoreDamaged } from './errors.ts'
import { decodeLine, isBeginningOfLine, type Transaction } from './journal-line.ts'

/** What reading a journal came to. */
export interface Replay {
  /** The number of the last transaction that is now known. */
  sequence: number
  /** Up to where the journal is good, in bytes. */
  size: number
  /** Bytes after that: the beginning of a line that was never acknowledged. */
  torn: number
  /** The last line is whole but for its line break. */
  unended: boolean
}

const LINE_BREAK = 0x0a

/**
 * Hands every transaction of a journal that comes after `known` to `apply`.
 * @throws StoreDamaged for anything but an incomplete last line.
 */
export function replay(
  bytes: Buffer,
  { shown }: StoreFile,
  known: number,
  apply: (transaction: Transaction) => void,
): Replay {
  const state: Replay = { sequence: known, size: 0, torn: 0, unended: false }
  let previous: number | undefined
  for (let line = 1; state.size < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_BREAK, state.size)
    const text = bytes.subarray(state.size, end === -1 ? bytes.length : end)
    const transaction = decodeLine(text)
    if (transaction === undefined && end === -1 && isBeginningOfLine(text))
      return { ...state, torn: text.length }
    if (transaction === undefined) throw damaged(`${shown} line ${line}`, 'its checksum does not match')
    const { sequence } = transaction
    if (previous === undefined ? sequence > known + 1 : sequence !== previous + 1)
      throw gap(`${shown} line ${line}`, (previous ?? known) + 1, sequence)
    if (sequence > state.sequence) {
      apply(transaction)
      state.sequence = sequence
    }
    previous = sequence
    state.unended = end === -1
    state.size = end === -1 ? bytes.length : end + 1
  }
  return state
}

const REMEDY =
  'To keep what comes before it, make a copy of the directory, then delete this line and all that follow, and any later journal. Or put back a backup.'

function damaged(place: string, why: string): StoreDamaged {
  return new StoreDamaged(`${place} is damaged: ${why}. Nothing was changed. ${REMEDY}`)
}

function gap(place: string, wanted: number, found: number): StoreDamaged {
  return damaged(
    place,
    `it holds transaction ${found} where ${wanted} should follow, so what lies between, or the db.json that goes with it, is missing`,
  )
}
