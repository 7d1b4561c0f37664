/** Texts in the order of their making, so that the oldest is the first to go. */
const recent = new Map<object, string>()

/** More than the requests that wait for the disk at the same time, and no long ones: they are made anew. */
const KEEP = { texts: 256, characters: 16 * 1024 }

/**
 * The JSON text of a record, remembered for the moment: what a push changes is announced, stored and answered in the same
 * words, and making them takes as long as all that is decided. Records are never changed in place, so their text holds.
 */
export function rememberedText(record: object): string {
  const known = recent.get(record)
  if (known !== undefined) return known
  const text = JSON.stringify(record)
  if (text.length > KEEP.characters) return text
  recent.set(record, text)
  const [oldest] = recent.size > KEEP.texts ? recent.keys() : []
  if (oldest !== undefined) recent.delete(oldest)
  return text
}

/** The JSON text of any value, which need not be made again when it was just remembered. */
export function textOf(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? recent.get(value) : undefined
  return known ?? JSON.stringify(value)
}
