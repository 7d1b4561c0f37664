const latin = new TextDecoder('windows-1252')

/** Variants of a body that was read or written in Latin-1, Windows-1252 or UTF-16 instead of UTF-8. */
export function charsets(body: Buffer): Buffer[] {
  const text = body.toString()
  return [
    Buffer.from(text, 'latin1'),
    Buffer.from(body.toString('latin1')),
    Buffer.from(latin.decode(body)),
    windowsBytes(text),
    Buffer.from(text, 'utf16le'),
  ]
}

/** Variants encoded once too often or too rarely: base64, JSON string, percent escapes, Unicode normal forms, U+FFFD. */
export function recodings(body: Buffer): Buffer[] {
  const text = body.toString()
  const forms = [
    () => body.toString('base64'),
    () => Buffer.from(text, 'base64'),
    () => JSON.stringify(text),
    () => requireText(JSON.parse(text)),
    () => encodeURIComponent(text),
    () => decodeURIComponent(text),
    () => decodeURIComponent(text.replaceAll('+', ' ')),
    () => text.normalize('NFC'),
    () => text.normalize('NFD'),
    () => text,
  ]
  return forms.flatMap((form) => {
    try {
      return [Buffer.from(form())]
    } catch {
      return []
    }
  })
}

/** Texts that programs take for a body that they do not have. */
export const missingBodies: readonly string[] = ['', 'undefined', '{}', 'null', 'None', '[]']

/** Texts that programs make of a body when they put it into a string as it is. Likely ones come first. */
export function notations(body: Buffer): string[] {
  const ofObjects = ['[object Promise]', '[object ArrayBuffer]']
  const others = ['[object ReadableStream]', 'Array']
  if (body.length > MAX_LISTED) return ['[object Object]', ...ofObjects, ...others]
  const [unsigned, signed] = [[...body], [...new Int8Array(body)]]
  return [
    '[object Object]',
    pythonBytes(body),
    ...ofObjects,
    JSON.stringify(body),
    unsigned.join(),
    JSON.stringify(new Uint8Array(body)),
    `[${signed.join(', ')}]`,
    `[${unsigned.join(', ')}]`,
    `[${unsigned.join(' ')}]`,
    ...others,
  ]
}

/** The longest body whose bytes are listed, in bytes. */
export const MAX_LISTED = 65_536

/** Texts that Python, Ruby, Java and Go make of parsed JSON when a program puts it into a string as it is. */
export function valueNotations(value: unknown): string[] {
  return [...notationStyles.map((style) => notationOf(value, style)), notationOf(sortedKeys(value), goStyle)]
}

/** Returns the body of which Python prints this literal, or another language this list of bytes; nothing for other text. */
export function ofNotation(text: string): Buffer[] {
  const [, kind, literal] = /^(b?)'([^]*)'\s*$/.exec(text) ?? /^(b)"([^]*)"\s*$/.exec(text) ?? []
  if (literal !== undefined) return [Buffer.from(unescaped(literal), kind === 'b' ? 'latin1' : 'utf8')]
  const numbers = text.replace(/^\s*\{"type":"Buffer","data":|\}\s*$/g, '')
  return /^[[\d][\d\s,\]-]*$/.test(numbers) ? [Buffer.from((numbers.match(/-?\d+/g) ?? []).map(Number))] : []
}

interface NotationStyle {
  map: readonly [begin: string, pair: string, end: string]
  separator: string
  text(text: string): string
  words: Readonly<Record<string, string>>
}

const goStyle: NotationStyle = {
  map: ['map[', ':', ']'],
  separator: ' ',
  text: String,
  words: { null: '<nil>' },
}

/** The styles of Python, of Ruby before 3.4 and since, and of Java. */
const notationStyles: readonly NotationStyle[] = [
  {
    map: ['{', ': ', '}'],
    separator: ', ',
    text: pythonText,
    words: { null: 'None', true: 'True', false: 'False' },
  },
  ...['=>', ' => '].map((pair): NotationStyle => ({
    map: ['{', pair, '}'],
    separator: ', ',
    text: (text) => JSON.stringify(text),
    words: { null: 'nil' },
  })),
  { map: ['{', '=', '}'], separator: ', ', text: String, words: {} },
]

function notationOf(value: unknown, style: NotationStyle): string {
  const { map, separator, text, words } = style
  const [begin, pair, end] = map
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${value.map((one) => notationOf(one, style)).join(separator)}]`
  if (typeof value !== 'object' || value === null) return words[String(value)] ?? String(value)
  const fields = Object.entries(value).map(([key, field]) => `${text(key)}${pair}${notationOf(field, style)}`)
  return `${begin}${fields.join(separator)}${end}`
}

/** Writes bytes as Python prints them. */
function pythonBytes(body: Buffer): string {
  const text = pythonText(body.toString('latin1'))
  return `b${text.replace(/[\x7f-\xff]/g, (unit) => hexEscape(unit))}`
}

/** Writes a text as Python prints it within a list or a dictionary. */
function pythonText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replace(/[\\\n\r\t]/g, (unit) => `\\${{ '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't' }[unit] ?? ''}`)
    .replace(/[\0-\x1f]/g, hexEscape)
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`
}

function hexEscape(unit: string): string {
  return `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`
}

/** Reads the escapes of a bytes literal of Python; each unit of the result is a byte. */
function unescaped(literal: string): string {
  return literal.replace(/\\(?:x([\da-f]{2})|([^]))/gi, (_all, code: string | undefined, unit: string) =>
    code === undefined
      ? ({ n: '\n', r: '\r', t: '\t' }[unit] ?? unit)
      : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** Sorts the keys of all objects, at every level. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([key, field]) => [key, sortedKeys(field)]))
}

/** Sorts the keys of `data` only, at every level; those of all objects where there is no `data`. */
export function sortedDataKeys(value: unknown): unknown {
  return isEnvelope(value) ? { ...value, data: sortedKeys(value.data) } : sortedKeys(value)
}

export function isEnvelope(value: unknown): value is { id?: unknown; data: unknown } {
  return typeof value === 'object' && value !== null && 'data' in value
}

/** Writes `1.0` for `1` or the reverse: for all numbers, or for one of the first {@link MAX_NUMBERS}. */
export function numberVariants(text: string): string[] {
  const whole = /(?<=[:[,]\s*)-?\d+(?=\s*[,\]}])/g
  const each = [...text.matchAll(whole)].slice(0, MAX_NUMBERS)
  const one = each.map(
    ({ index, 0: found }) => `${text.slice(0, index + found.length)}.0${text.slice(index + found.length)}`,
  )
  return [text.replace(/(?<=\d)\.0+(?=\s*[,\]}])/g, ''), text.replace(whole, '$&.0'), ...one]
}

/** Each variant costs an HMAC. */
const MAX_NUMBERS = 100

export function slashVariants(text: string): string[] {
  return [text.replaceAll('\\/', '/'), text.replace(/(?<!\\)\//g, '\\/')]
}

export function unicodeVariants(text: string): string[] {
  const read = (hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  const bare = text.replace(/(?<!\\)\\u([0-9a-fA-F]{4})/g, (escape, hex: string) =>
    Number.parseInt(hex, 16) > 0x7f ? read(hex) : escape,
  )
  const escaped = (upper: boolean) =>
    text.replace(/[\u0080-\uffff]/g, (unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${upper ? hex.toUpperCase() : hex}`
    })
  return [bare, escaped(false), escaped(true)]
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('This is not a JSON string.')
  return value
}

/** Encodes a text in Windows-1252. */
function windowsBytes(text: string): Buffer {
  return Buffer.from(Array.from(text, (character) => byteOf.get(character) ?? character.charCodeAt(0) & 0xff))
}

const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => [latin.decode(Uint8Array.of(byte)), byte] as const),
)

/**
 * Serialises a value as the libraries of other languages do: compact, with a blank after each colon and comma, and indented,
 * each with the escapes of Python, PHP, Go and Java. Likely forms come first; a form may be there twice.
 */
export function jsonForms(value: unknown): string[] {
  const compact = JSON.stringify(value)
  const [two, four, tabs] = [2, 4, '\t'].map((indent) => JSON.stringify(value, null, indent)) as Indented
  const spaced = writeSpaced(value)
  const byDefault = [
    compact,
    escapeNonAscii(spaced),
    escapeSlashes(escapeNonAscii(compact)),
    escapeHtml(compact),
  ]
  const pretty = [
    two,
    ofRuby(two),
    escapeSlashes(escapeNonAscii(four)),
    escapeHtml(tabs),
    escapeHtml(two),
    escapeNonAscii(four),
  ]
  return [...byDefault, ...pretty, tabs, ...[compact, spaced, two, four].flatMap(withEscapes)]
}

type Indented = [two: string, four: string, tabs: string]

function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${writeSpaced(field)}`)
  return `{${fields.join(', ')}}`
}

function withEscapes(text: string): string[] {
  const ascii = escapeNonAscii(text)
  const forGson = text.replace(/[<>&='\u2028\u2029]/g, escapeUnit)
  return [text, ascii, escapeSlashes(text), escapeSlashes(ascii), escapeHtml(text), forGson]
}

/** Splits empty arrays as Ruby does when it indents by two. */
function ofRuby(text: string): string {
  return text.replace(/^( *)(.*)\[\](,?)$/gm, '$1$2[\n\n$1]$3')
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, escapeUnit)
}

/** Escapes as Go does. */
function escapeHtml(text: string): string {
  return text.replace(/[<>&\u2028\u2029]/g, escapeUnit)
}

function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const mark = Buffer.from('\uFEFF')

/** Variants with one newline more, one less, and none at the end. */
export function newlineVariants(body: Buffer): Buffer[] {
  const text = body.toString('latin1')
  const variants = [`${text}\n`, `${text}\r\n`, text.replace(/\r?\n$/, ''), text.replace(/[\r\n]+$/, '')]
  return variants.map((variant) => Buffer.from(variant, 'latin1'))
}

export function lineEndings(body: Buffer): Buffer[] {
  const unix = body.toString('latin1').replaceAll('\r\n', '\n')
  return [unix, unix.replaceAll('\n', '\r\n')].map((variant) => Buffer.from(variant, 'latin1'))
}

export function toggleByteOrderMark(body: Buffer): Buffer {
  return body.indexOf(mark) === 0 ? body.subarray(mark.length) : Buffer.concat([mark, body])
}

/** Advice for a file or body in UTF-16. */
export const UTF16_ADVICE =
  'Windows PowerShell writes UTF-16 files with `>`, but the service signs UTF-8. Save the bytes as received: use curl -o FILE, or `>` in cmd or PowerShell 7.4.'

/**
 * Decodes UTF-16: bytes with its byte-order mark, or that start with two ASCII characters of two bytes each. `undefined` for
 * all other bytes.
 */
export function textOfUtf16(bytes: Uint8Array): string | undefined {
  const charset = charsetOf(bytes)
  return charset === undefined ? undefined : new TextDecoder(charset).decode(bytes)
}

function charsetOf([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array) {
  if ((first === 0xff && second === 0xfe) || (isAscii(first, third) && second === 0 && fourth === 0))
    return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (isAscii(second, fourth) && first === 0 && third === 0))
    return 'utf-16be'
  return undefined
}

function isAscii(...units: number[]): boolean {
  return units.every((unit) => unit > 0 && unit < 0x80)
}
