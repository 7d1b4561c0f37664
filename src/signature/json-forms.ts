/** The ways in which programs write the same JSON. Each gives no text for a body that is no JSON. */
type Form = (body: string) => string[]

/** As JavaScript and Rust write it; and with the escapes of Python, PHP and Go. */
export const compact: Form = (body) => withEscapes(rewrite(body, (value) => JSON.stringify(value)))

/** As pretty-printers write it. */
export function indented(spaces: number): Form {
  return (body) => rewrite(body, (value) => JSON.stringify(value, null, spaces))
}

/** As Python's `json.dumps` writes it: a blank after each colon and comma. */
export const spaced: Form = (body) => withEscapes(rewrite(body, writeSpaced))

function rewrite(body: string, write: (value: unknown) => string): string[] {
  try {
    return [write(JSON.parse(body))]
  } catch {
    return []
  }
}

function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${writeSpaced(field)}`)
  return `{${fields.join(', ')}}`
}

function withEscapes(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const ascii = text.replace(/[\u0080-\uffff]/g, escapeUnit)
    const forBrowsers = text.replace(/[<>&\u2028\u2029]/g, escapeUnit)
    const slashes = [text, ascii].map((one) => one.replaceAll('/', '\\/'))
    return [text, ascii, ...slashes, forBrowsers]
  })
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
