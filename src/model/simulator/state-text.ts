/** Longest JSON of a state in another layout, in bytes. It is parsed as a whole, which blocks the service. */
export const LONGEST_DOCUMENT = 128 * 1024 * 1024

/** Characters per chunk: about a millisecond's work. */
const CHUNK = 256 * 1024

/**
 * Yields the JSON text of a state in chunks, compact and with one record a line, so that two states can be compared by
 * line. {@link createStateScanner} reads this layout without holding the text.
 */
export function* stateText(state: object): Iterable<string> {
  let chunk = ''
  for (const piece of piecesOf(state)) {
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
    yield `${before}\n  ${JSON.stringify(name)}: `
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield '\n}\n'
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
export interface StateSink {
  /** Receives a field without records, as JSON. */
  field(name: string, json: string): void
  /** Begins a list of records. */
  list(name: string): void
  /** Receives a record of the latest list, as JSON. */
  record(json: string): void
}

/** Reads the layout that {@link stateText} writes. */
export interface StateScanner {
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
