/** Longest bundle, in bytes. It is parsed as a whole. */
export const LONGEST_BUNDLE = 64 * 1024 * 1024

/** Characters per chunk: about a millisecond's work. */
const CHUNK = 256 * 1024

/**
 * Yields the JSON text of a bundle in chunks, with one record per line, so that two bundles can be compared by line. `map`
 * changes each record.
 */
export function* bundleText(bundle: object, map: <T>(record: T) => T = (record) => record): Iterable<string> {
  let chunk = ''
  for (const { text, value } of piecesOf(bundle, '  ', 2)) {
    chunk += text ?? JSON.stringify(map(value))
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield `${chunk}\n`
}

/** A part of the text, or a value that stands on one line. */
type Piece = { text: string; value?: never } | { text?: never; value: unknown }

/** Yields the parts of a value; lists, and the fields of objects down to a depth, stand on lines of their own. */
function* piecesOf(value: unknown, indent: string, depth: number): Iterable<Piece> {
  const isObject = typeof value === 'object' && value !== null && depth >= 0
  const isList = Array.isArray(value)
  const fields = isObject ? Object.entries(value) : []
  if (fields.length === 0) {
    yield { value }
    return
  }
  let before = isList ? '[' : '{'
  for (const [name, one] of fields) {
    yield { text: `${before}\n${indent}${isList ? '' : `${JSON.stringify(name)}: `}` }
    yield* piecesOf(one, `${indent}  `, isList ? -1 : depth - 1)
    before = ','
  }
  yield { text: `\n${indent.slice(2)}${isList ? ']' : '}'}` }
}
