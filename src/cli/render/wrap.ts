import stringWidth from 'string-width'

/** A paragraph in lines that fit `columns`, each indented; no narrower than half a terminal of 80, and words stay whole. */
export function wrapped(text: string, indent: string, columns: number): string {
  const width = Math.max(columns - indent.length, 40)
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && stringWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => indent + line).join('\n')
}
