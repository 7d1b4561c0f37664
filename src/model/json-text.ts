/** Records and their texts, by turns in the place of the oldest: a look at all of them is quicker than any index. */
const recent: { record: object; text: string }[] = []
let next = 0

/** More than the requests that wait for the disk at the same time, and no long ones: they are made anew. */
const KEEP = { texts: 128, characters: 16 * 1024 }

/**
 * The JSON text of a record, remembered for the moment: what a push changes is announced, stored and answered in the same
 * words, and making them takes as long as all that is decided. Records are never changed in place, so their text holds.
 */
export function rememberedText(record: object): string {
  const known = textIfKnown(record)
  if (known !== undefined) return known
  const text = JSON.stringify(record)
  if (text.length > KEEP.characters) return text
  recent[next] = { record, text }
  next = (next + 1) % KEEP.texts
  return text
}

/** The JSON text of any value, which need not be made again when it was just remembered. */
export function textOf(value: unknown): string {
  return textIfKnown(value) ?? JSON.stringify(value)
}

/** From the newest on, which is asked for most. */
function textIfKnown(value: unknown): string | undefined {
  for (let back = 1; back <= recent.length; back++) {
    const one = recent[(next - back + KEEP.texts) % KEEP.texts]
    if (one?.record === value) return one?.text
  }
  return undefined
}
