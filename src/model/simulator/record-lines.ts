/** Longest JSON of a state in another layout, in bytes. It is parsed as a whole, which blocks the service. */
export const LONGEST_DOCUMENT = 128 * 1024 * 1024

/** Longest bundle, in bytes. It is parsed as a whole. */
export const LONGEST_BUNDLE = 64 * 1024 * 1024

/** Characters per chunk: about a millisecond's work. */
const CHUNK = 256 * 1024

/**
 * Yields the JSON text of a state in chunks, compact and with one record a line, so that two states can be compared by
 * line. {@link createStateScanner} reads this layout without holding the text.
 */
export function stateText(state: object): Iterable<string> {
  return chunksOf(piecesOf(state))
}

/** Joins pieces of text to chunks. */
function* chunksOf(pieces: Iterable<string>): Iterable<string> {
  let chunk = ''
  for (const piece of pieces) {
    chunk += piece
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}

function* piecesOf(state: object): Iterable<string> {
  let before = '{'
  for (const [name, value] of Object.entries(state)) {
    if (value === undefined) continue
    yield `${before}\n  ${JSON.stringify(name)}: `
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield before === '{' ? '{}\n' : '\n}\n'
}

function* listText(records: readonly unknown[]): Iterable<string> {
  let before = '['
  for (const record of records) {
    yield `${before}\n    ${JSON.stringify(record)}`
    before = ','
  }
  yield records.length === 0 ? '[\n  ]' : '\n  ]'
}

/** Receives the parts of a state's text, in order. */
interface StateSink {
  /** Receives a field without records, as JSON. */
  field(name: string, json: string): void
  /** Begins a list of records. */
  list(name: string): void
  /** Receives a record of the latest list, as JSON. */
  record(json: string): void
}

/** Reads the layout that {@link stateText} writes. */
interface StateScanner {
  /** Scans the next bytes. Returns false when the text is in another layout. */
  take(bytes: Uint8Array): boolean
  /** Returns true when the whole text was in that layout and complete. */
  end(): boolean
}

/** Longest line in characters: more than the longest valid check. */
const LONGEST_LINE = 16 * 1024 * 1024

/** Matches a field, or the first line of a list. */
const FIELD = /^ {2}"(\w+)": (\[|.*[^,[])(,?)$/
const RECORD = /^ {4}(\{.*\})(,?)$/
const END_OF_LIST = /^ {2}\](,?)$/

/** Creates a scanner. Invalid UTF-8, and JSON that `sink` cannot parse, count as another layout. */
export function createStateScanner(sink: StateSink): StateScanner {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let place: 'start' | 'fields' | 'records' | 'end' | 'elsewhere' = 'start'
  let before: 'bracket' | 'value' | 'comma' = 'bracket'
  let rest = ''

  const value = (comma: string | undefined) => {
    const isExpected = before !== 'value'
    before = comma === ',' ? 'comma' : 'value'
    return isExpected
  }
  const closing = (comma: string | undefined) => {
    const isExpected = before !== 'comma'
    before = comma === ',' ? 'comma' : 'value'
    return isExpected
  }
  const inFields = (line: string) => {
    if (line === '}') return closing('') ? 'end' : 'elsewhere'
    const [, name, json, comma] = FIELD.exec(line) ?? []
    if (name === undefined || json === undefined || !value(comma)) return 'elsewhere'
    if (json !== '[') {
      sink.field(name, json)
      return 'fields'
    }
    sink.list(name)
    before = 'bracket'
    return 'records'
  }
  const inRecords = (line: string) => {
    const end = END_OF_LIST.exec(line)
    if (end !== null) return closing(end[1]) ? 'fields' : 'elsewhere'
    const [, json, comma] = RECORD.exec(line) ?? []
    if (json === undefined || !value(comma)) return 'elsewhere'
    sink.record(json)
    return 'records'
  }
  const next = (line: string) => {
    if (place === 'start') return line === '{' ? 'fields' : 'elsewhere'
    if (place === 'fields') return inFields(line)
    return place === 'records' ? inRecords(line) : 'elsewhere'
  }
  const read = (text: string) => {
    if (rest.length > LONGEST_LINE) place = 'elsewhere'
    // Split only at a line's end: splitting earlier would copy the line with each chunk.
    if (!text.includes('\n')) rest += text
    else {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (place !== 'elsewhere') place = next(line)
    }
    return place !== 'elsewhere'
  }
  const guarded = (look: () => boolean) => {
    try {
      return place !== 'elsewhere' && look()
    } catch (error) {
      // Invalid UTF-8, or invalid JSON.
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
      place = 'elsewhere'
      return false
    }
  }
  return {
    take: (bytes) => guarded(() => read(decoder.decode(bytes, { stream: true }))),
    end: () => guarded(() => read(decoder.decode()) && place === 'end' && rest === ''),
  }
}

/**
 * Yields the JSON text of a bundle in chunks, with one record per line, so that two bundles can be compared by line. `map`
 * changes each record.
 */
export function bundleText(bundle: object, map: <T>(record: T) => T = (record) => record): Iterable<string> {
  return chunksOf(bundleTexts(bundle, map))
}

function* bundleTexts(bundle: object, map: <T>(record: T) => T): Iterable<string> {
  for (const { text, value } of partsOfBundle(bundle, '  ', 2)) yield text ?? JSON.stringify(map(value))
  yield '\n'
}

/** A part of the text, or a value that stands on one line. */
type TextPart = { text: string; value?: never } | { text?: never; value: unknown }

/** Yields the parts of a value; lists, and the fields of objects down to a depth, stand on lines of their own. */
function* partsOfBundle(value: unknown, indent: string, depth: number): Iterable<TextPart> {
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
    yield* partsOfBundle(one, `${indent}  `, isList ? -1 : depth - 1)
    before = ','
  }
  yield { text: `\n${indent.slice(2)}${isList ? ']' : '}'}` }
}
