import type { List } from './list.ts'

/** What of a list has been loaded: from one of its ends on, and how it goes on. */
export interface Loaded<T> {
  /** The end at which loading began. */
  end: End
  /** Away from that end: newest first, or oldest first. */
  rows: readonly T[]
  /** `null` when there are no further ones, and then the list is whole and begins with the newest. */
  cursor: string | null
}

export type End = 'newest' | 'oldest'

/**
 * The page at an end in the place of what it covers, with what else is loaded. Where rows between it and the rest are
 * missing, the rest goes.
 */
export function withFirst<T extends { id: string }>(
  before: Loaded<T> | undefined,
  page: List<T>,
  end: End,
): Loaded<T> {
  const fresh = { end, rows: page.data, cursor: page.next_cursor }
  const last = page.data.at(-1)
  if (before === undefined || last === undefined || page.next_cursor === null) return wholeOr(fresh)
  const known = seenFrom(end, before)
  const [nearest] = known.rows
  if (nearest === undefined || isBeyond(end, nearest, last)) return fresh
  const rest = known.rows.filter((row) => isBeyond(end, row, last))
  return rest.length === 0 ? fresh : wholeOr({ ...known, rows: [...page.data, ...rest] })
}

/** The next page behind what is there. */
export function withNext<T extends { id: string }>(before: Loaded<T>, page: List<T>): Loaded<T> {
  const last = before.rows.at(-1)
  const next = page.data.filter((row) => last === undefined || isBeyond(before.end, row, last))
  return wholeOr({ ...before, rows: [...before.rows, ...next], cursor: page.next_cursor })
}

/** The rows as they are shown. */
export function newestFirst<T>({ end, rows }: Loaded<T>): readonly T[] {
  return end === 'newest' ? rows : rows.toReversed()
}

/** Where there are rows that are not loaded. */
export type Missing = 'above' | 'below' | 'nowhere'

export function missingIn(loaded: Loaded<unknown> | undefined): Missing {
  if ((loaded?.cursor ?? null) === null) return 'nowhere'
  return loaded?.end === 'oldest' ? 'above' : 'below'
}

function isBeyond(end: End, row: { id: string }, last: { id: string }): boolean {
  return end === 'newest' ? row.id < last.id : row.id > last.id
}

/** The same rows from the other end, where nothing of them is missing behind the last one. */
function seenFrom<T>(end: End, loaded: Loaded<T>): Loaded<T> {
  return loaded.end === end ? loaded : { end, rows: loaded.rows.toReversed(), cursor: null }
}

function wholeOr<T>(loaded: Loaded<T>): Loaded<T> {
  return loaded.cursor === null ? seenFrom('newest', loaded) : loaded
}
