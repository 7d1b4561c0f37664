import stringWidth from 'string-width'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** The one kind of sequence that our own texts have; `printable` leaves no other in those of others. */
const COLOUR = /(\u001b\[\d{1,3}m)/

/** How many columns of a terminal a text takes: 2 for 寿 and 🍣, 0 for a colour. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** A text with blanks behind it, so that it takes at least so many columns. */
export function padTo(width: number, text: string): string {
  return text + ' '.repeat(Math.max(width - widthOf(text), 0))
}

/** The start of a text that takes more columns, and `…`; never half of a character, and with its colours as they were. */
export function cutTo(width: number, text: string): string {
  if (widthOf(text) <= width) return text
  let left = width - 1
  const kept = text.split(COLOUR).map((part) => (COLOUR.test(part) ? part : take(part)))
  return kept.join('')

  function take(part: string): string {
    let taken = ''
    for (const { segment } of graphemes.segment(part)) {
      if (left < 0) return taken
      left -= widthOf(segment)
      taken += left < 0 ? '…' : segment
    }
    return taken
  }
}

/** Lines of at most so many columns, broken between words; a word that is longer by itself is not broken. */
export function wrapTo(width: number, text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
