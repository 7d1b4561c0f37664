const latin = new TextDecoder('windows-1252')

/** Read or written in Latin-1 or Windows-1252 where it was UTF-8, or the other way round; or signed as UTF-16. */
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

/** Encoded once too often or too seldom: base64, a JSON string, percent escapes, Unicode's normal forms, U+FFFD for what was no UTF-8. */
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

/** Keys in the order of the alphabet, at every level; compact, spaced or indented as given. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([key, field]) => [key, sortedKeys(field)]))
}

/** `1.0` for `1` or the other way round: all numbers, or one of the first few. */
export function numberForms(text: string): string[] {
  const whole = /(?<=[:[,]\s*)-?\d+(?=\s*[,\]}])/g
  const each = [...text.matchAll(whole)].slice(0, MOST_NUMBERS)
  const one = each.map(
    ({ index, 0: found }) => `${text.slice(0, index + found.length)}.0${text.slice(index + found.length)}`,
  )
  return [text.replace(/(?<=\d)\.0+(?=\s*[,\]}])/g, ''), text.replace(whole, '$&.0'), ...one]
}

/** Each costs an HMAC. */
const MOST_NUMBERS = 100

export function slashForms(text: string): string[] {
  return [text.replaceAll('\\/', '/'), text.replace(/(?<!\\)\//g, '\\/')]
}

export function unicodeForms(text: string): string[] {
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
  if (typeof value !== 'string') throw new TypeError('This is no JSON string.')
  return value
}

/** The bytes that Windows-1252 has for a text that it was read as. */
function windowsBytes(text: string): Buffer {
  return Buffer.from(Array.from(text, (character) => byteOf.get(character) ?? character.charCodeAt(0) & 0xff))
}

const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => [latin.decode(Uint8Array.of(byte)), byte] as const),
)
