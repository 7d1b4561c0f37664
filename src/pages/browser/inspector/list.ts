/** A list as every list answers: newest first, with the cursor of the next page. */
export interface List<T> {
  data: T[]
  next_cursor: string | null
}
