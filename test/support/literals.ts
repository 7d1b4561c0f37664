/** A string or template literal of a source text; expressions of a template are left out as `…`. */
export interface Literal {
  line: number
  text: string
}

/** After these characters, and at the start of a text, a slash begins a regular expression. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\bcase|\btypeof)$/

/** Returns the string and template literals of a TypeScript source, without comments and regular expressions. */
export function literalsIn(source: string): Literal[] {
  const found: Literal[] = []
  let code = ''
  let at = 0

  const lineAt = (index: number) => source.slice(0, index).split('\n').length
  const skipTo = (end: string, from: number) => {
    const index = source.indexOf(end, from)
    at = index === -1 ? source.length : index + end.length
  }

  function string(quote: string): void {
    const start = at
    let text = ''
    for (at += 1; at < source.length && source[at] !== quote; at += 1) {
      if (source[at] === '\\') {
        at += 1
        text += source[at] === 'n' ? '\n' : (source[at] ?? '')
      } else text += source[at] ?? ''
    }
    at += 1
    found.push({ line: lineAt(start), text })
    code += '""'
  }

  function template(): void {
    const start = at
    let text = ''
    at += 1
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        at += 2
        read('}')
        text += '…'
      } else if (source[at] === '\\') {
        text += source[at + 1] === 'n' ? '\n' : (source[at + 1] ?? '')
        at += 2
      } else {
        text += source[at] ?? ''
        at += 1
      }
    }
    at += 1
    found.push({ line: lineAt(start), text })
    code += '""'
  }

  function regex(): void {
    let inClass = false
    for (at += 1; at < source.length; at += 1) {
      if (source[at] === '\\') at += 1
      else if (source[at] === '[') inClass = true
      else if (source[at] === ']') inClass = false
      else if (source[at] === '/' && !inClass) break
    }
    at += 1
    code += '0'
  }

  /** Reads code up to `end`, which closes the expression of a template, or to the end of the text. */
  function read(end: string | undefined): void {
    let depth = 0
    while (at < source.length) {
      const character = source[at] ?? ''
      if (character === end && depth === 0) {
        at += 1
        return
      }
      if (source.startsWith('//', at)) skipTo('\n', at)
      else if (source.startsWith('/*', at)) skipTo('*/', at)
      else if (character === "'" || character === '"') string(character)
      else if (character === '`') template()
      else if (character === '/' && BEFORE_REGEX.test(code.trimEnd())) regex()
      else {
        if (character === '{') depth += 1
        if (character === '}') depth -= 1
        code = (code + character).slice(-100)
        at += 1
      }
    }
  }

  read(undefined)
  return found
}
