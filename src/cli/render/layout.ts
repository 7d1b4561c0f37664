import { stripVTControlCharacters } from 'node:util'
import chalk from 'chalk'
import { harmless } from './text.ts'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

type Row = readonly string[]

const GAP = '  '
/** Shorter cells are dates, amounts and states: they are never cut, since a part of one says nothing. */
const SHORT = 20
const IDENTIFIER = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/

/**
 * Renders rows under headings, in columns that align in any script; an empty list prints `empty`. When the rows are
 * wider than `columns`, identifiers go below their rows, uncut, and then long texts are cut.
 */
export function renderTable(headings: Row, rows: readonly Row[], empty: string, columns = Infinity): string {
  if (rows.length === 0) return chalk.dim(empty)
  const head = headings.map((heading) => chalk.dim(heading.toUpperCase()))
  const all = [head, ...rows.map((row) => row.map(oneLine))]
  if (totalOf(naturalWidths(all)) <= columns || !hasIdentifiers(all)) return layOut(all, columns).join('\n')
  const [first = '', ...others] = layOut(
    all.map((row) => row.slice(1)),
    columns,
  )
  const below = all.slice(1).map(([id = '']) => `${GAP}${chalk.dim(id)}`)
  return [first, ...others.flatMap((line, index) => [line, below[index] ?? ''])].join('\n')
}

function hasIdentifiers([, ...rows]: readonly Row[]): boolean {
  return rows.some(([cell = '']) => IDENTIFIER.test(stripVTControlCharacters(cell)))
}

function layOut(all: readonly Row[], columns: number): string[] {
  const widths = fitted(naturalWidths(all), columns)
  return all.map((row) =>
    row
      .map((cell, index) => padTo(widths[index] ?? 0, cutTo(widths[index] ?? 0, cell)))
      .join(GAP)
      .trimEnd(),
  )
}

function naturalWidths(all: readonly Row[]): number[] {
  const [head = []] = all
  return head.map((_heading, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ''))))
}

/** Narrows the widest columns first, down to {@link SHORT}; the terminal wraps what is still too wide. */
function fitted(natural: readonly number[], columns: number): number[] {
  const widths = [...natural]
  while (totalOf(widths) > columns) {
    const widest = Math.max(...widths)
    if (widest <= SHORT) return widths
    const next = Math.max(...widths.filter((width) => width < widest), SHORT)
    const wide = widths.filter((width) => width === widest).length
    const spare = Math.ceil((totalOf(widths) - columns) / wide)
    for (const [index, width] of widths.entries())
      if (width === widest) widths[index] = Math.max(next, widest - spare)
  }
  return widths
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)
}

/** Joins a note of several lines into one cell. */
function oneLine(cell: string): string {
  return harmless(cell).replace(/\s+/g, ' ').trim()
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Colour codes, the only escape sequences left in texts: `printable` replaces others. */
const COLOUR = /(\u001b\[\d{1,3}m)/

/** Returns the terminal columns of a text: 2 for 寿 and 🍣, 0 for a colour code. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** Pads a text with blanks to at least `width` columns. */
export function padTo(width: number, text: string): string {
  return text + ' '.repeat(Math.max(width - widthOf(text), 0))
}

/** Cuts a text to `width` columns, with `…` at the end. Keeps whole characters and all colour codes. */
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

/** Breaks a text between words into lines of at most `width` columns. A longer word, such as an identifier, stays whole. */
export function wrapTo(width: number, text: string): string[] {
  return wrapAnsi(text, width).split('\n')
}

/** Widest paragraph on a terminal, in columns: longer lines are hard to read. Lines in a pipe are not wrapped. */
const MOST = 120

/** Wraps a paragraph to `columns` and indents each line. The text is at least 40 columns wide. */
export function wrapped(text: string, indent: string, columns: number): string {
  const width = Math.max((columns === Infinity ? columns : Math.min(columns, MOST)) - indent.length, 40)
  // Lines of the text are indented, too: none may look like a line of ours.
  return wrapTo(width, text)
    .map((line) => indent + line)
    .join('\n')
}
