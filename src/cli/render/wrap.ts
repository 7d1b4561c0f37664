import stringWidth from 'string-width'

/** Longer lines are hard to read; but where nobody reads, such as in a pipe, there are no columns, and lines stay whole. */
const MOST = 120

/** A paragraph in lines that fit `columns`, each indented; no narrower than half a terminal of 80, and words stay whole. */
export function wrapped(text: string, indent: string, columns: number): string {
  const width = Math.max((columns === Infinity ? columns : Math.min(columns, MOST)) - indent.length, 40)
  // A break in the text must not begin a line that looks like one of ours.
  const lines = text.split('\n').flatMap((line) => broken(line, width))
  return lines.map((line) => indent + line).join('\n')
}

function broken(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && stringWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
