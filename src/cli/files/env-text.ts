/** The start of an assignment, up to its value: `export NAME = `. Sticky, to match at the start of a line only. */
const beforeValue = /[^\S\r\n]*(?:export[^\S\r\n]+)?([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*/y

/**
 * The text of a `.env` file with these variables in it: those that are there are replaced, wherever they are, and new
 * ones come at the end. All other lines, comments, their order and the line ends stay as they are. Takes time in
 * proportion to the text, whatever it holds: the file may have come with a clone.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const found = new Set<string>()
  const unclosed = new Set<string>()
  let replaced = ''
  for (let start = 0; start < text.length;) {
    beforeValue.lastIndex = start
    const [before = '', name = ''] = beforeValue.exec(text) ?? []
    const valueStart = start + before.length
    const valueEnd = name === '' ? valueStart : endOfValue(text, valueStart, unclosed)
    const end = endOfLine(text, valueEnd)
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value === undefined) replaced += text.slice(start, end + 1)
    else {
      found.add(name)
      const after = text.slice(valueEnd, end)
      replaced += `${before}${quoted(value)}${after.startsWith('#') ? ' ' : ''}${after}${text.slice(end, end + 1)}`
    }
    start = end + 1
  }
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n'
  const lines = Object.entries(variables)
    .filter(([name]) => !found.has(name))
    .map(([name, value]) => `${name}=${quoted(value)}${lineEnd}`)
  const isOpen = lines.length > 0 && replaced !== '' && !replaced.endsWith('\n')
  return `${replaced}${isOpen ? lineEnd : ''}${lines.join('')}`
}

/**
 * Returns the position where a value ends: at its closing quote, which may be lines below, else at the end of the line or
 * before a comment. `unclosed` collects quotes without an end, so that the rest of the text is searched once for each.
 */
function endOfValue(text: string, start: number, unclosed: Set<string>): number {
  const quote = text[start] ?? ''
  if (['"', "'", '`'].includes(quote) && !unclosed.has(quote)) {
    const close = closingQuote(text, start + 1, quote)
    if (close !== -1) return close + 1
    unclosed.add(quote)
  }
  const line = text.slice(start, endOfLine(text, start))
  // A comment that is the whole of it leaves an empty value.
  if (line.startsWith('#')) return start
  const comment = line.search(/(?<=\s)#/)
  return start + (comment === -1 ? line : line.slice(0, comment)).trimEnd().length
}

/** The position of the quote that closes, or -1. Only between double quotes a backslash keeps one from closing. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === quote) return at
    if (quote === '"' && text[at] === '\\') at += 1
  }
  return -1
}

/** The position of the line break that ends the line, or the length of the text. */
function endOfLine(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) if (text[at] === '\n' || text[at] === '\r') return at
  return text.length
}

/** As shells and dotenv libraries both read it. */
function quoted(value: string): string {
  if (/^[\w.:/@%+,=-]*$/.test(value)) return value
  return value.includes("'") ? `"${value.replace(/["\\$`]/g, '\\$&')}"` : `'${value}'`
}
