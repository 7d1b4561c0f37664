import type { List } from './list.ts'

/** What of a list has been loaded, newest first, and how it goes on. */
export interface Loaded<T> {
  rows: readonly T[]
  /** `null` when there are no older ones. */
  cursor: string | null
}

/** The newest page in the place of what it covers. Where rows between it and the rest are missing, the rest goes. */
export function withNewest<T extends { id: string }>(
  before: Loaded<T> | undefined,
  page: List<T>,
): Loaded<T> {
  const fresh = { rows: page.data, cursor: page.next_cursor }
  const oldest = page.data.at(-1)
  const newestBefore = before?.rows[0]
  if (before === undefined || oldest === undefined || page.next_cursor === null) return fresh
  if (newestBefore === undefined || newestBefore.id < oldest.id) return fresh
  const older = before.rows.filter(({ id }) => id < oldest.id)
  return older.length === 0 ? fresh : { rows: [...page.data, ...older], cursor: before.cursor }
}

/** An older page behind what is there. */
export function withOlder<T extends { id: string }>(before: Loaded<T>, page: List<T>): Loaded<T> {
  const last = before.rows.at(-1)
  const older = page.data.filter(({ id }) => last === undefined || id < last.id)
  return { rows: [...before.rows, ...older], cursor: page.next_cursor }
}
