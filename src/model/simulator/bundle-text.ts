/** Longest bundle, in bytes. It is parsed as a whole. */
export const LONGEST_BUNDLE = 64 * 1024 * 1024

/** Characters per chunk: about a millisecond's work. */
const CHUNK = 256 * 1024

/** Yields the JSON text of a bundle in chunks, with one record per line, so that two bundles can be compared by line. */
export function* bundleText(bundle: object): Iterable<string> {
  let chunk = ''
  for (const piece of piecesOf(bundle, '  ', 2)) {
    chunk += piece
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield `${chunk}\n`
}

/** Yields the JSON of a value; lists, and the fields of objects down to a depth, stand on lines of their own. */
function* piecesOf(value: unknown, indent: string, depth: number): Iterable<string> {
  const isObject = typeof value === 'object' && value !== null && depth >= 0
  const isList = Array.isArray(value)
  const fields = isObject ? Object.entries(value) : []
  if (fields.length === 0) {
    yield JSON.stringify(value)
    return
  }
  let before = isList ? '[' : '{'
  for (const [name, one] of fields) {
    yield `${before}\n${indent}${isList ? '' : `${JSON.stringify(name)}: `}`
    yield* piecesOf(one, `${indent}  `, isList ? -1 : depth - 1)
    before = ','
  }
  yield `\n${indent.slice(2)}${isList ? ']' : '}'}`
}
