import { stripVTControlCharacters } from 'node:util'
import chalk from 'chalk'
import { shell } from '../suggestion.ts'
import { harmless } from './text.ts'
import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

type Row = readonly string[]

const GAP = '  '
/** Shorter cells are dates, amounts and states: they are never cut, since a part of one says nothing. */
const SHORT = 20
/** Least width of a column whose texts are cut. */
const LEAST = 12
const IDENTIFIER = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/

/**
 * Renders rows under headings, in columns that align in any script; an empty list prints `empty`. When the rows are
 * wider than `columns`, identifiers go below their rows, uncut, and then long texts are cut. Columns that still have no
 * room go below their rows, too, each cell behind its heading. `note` returns further lines below a row. `hasKeys` says
 * that the first column has external ids: long ones count as identifiers.
 */
export function renderTable(
  headings: Row,
  rows: readonly Row[],
  empty: string,
  columns = Infinity,
  note: (index: number) => readonly string[] = () => [],
  hasKeys = false,
): string {
  if (rows.length === 0) return chalk.dim(wrapTo(columns, empty).join('\n'))
  const head = headings.map((heading) => chalk.dim(heading.toUpperCase()))
  const all = [head, ...rows.map((row) => row.map(oneLine))]
  const natural = naturalWidths(all)
  const hasLongKeys = hasKeys && (natural[0] ?? 0) > SHORT
  const hasIds = totalOf(natural) > columns && (hasLongKeys || hasIdentifiers(rows))
  const others = hasIds ? all.map((row) => row.slice(1)) : all
  const names = hasIds ? headings.slice(1) : headings
  const shown = fittingColumns(others, columns)
  const [first = '', ...lines] = layOut(
    others.map((row) => row.slice(0, shown)),
    columns,
  )
  const below = (index: number) => {
    const id = hasIds ? [`${GAP}${chalk.dim(all[index + 1]?.[0] ?? '')}`] : []
    const cells = others[index + 1] ?? []
    return [...folded(names.slice(shown), cells.slice(shown), columns), ...id, ...note(index)]
  }
  return [first, ...lines.flatMap((line, index) => [line, ...below(index)])].join('\n')
}

/** Returns how many columns stand beside each other, at least one. */
function fittingColumns(all: readonly Row[], columns: number): number {
  const natural = naturalWidths(all)
  const fits = (number: number) => totalOf(fitted(natural.slice(0, number), columns)) <= columns
  return natural.map((_width, index) => index + 1).findLast(fits) ?? 1
}

/** Renders cells below their row, each behind its heading; several share a line where they fit. */
function folded(headings: Row, cells: Row, columns: number): string[] {
  const lines: string[] = []
  for (const [index, cell] of cells.entries()) {
    if (cell === '') continue
    const text = `${chalk.dim(headings[index] ?? '')} ${cell}`
    const before = lines.at(-1)
    const together = `${before}${GAP}${text}`
    if (before !== undefined && widthOf(together) <= columns) lines[lines.length - 1] = together
    else lines.push(cutTo(columns, `${GAP}${text}`))
  }
  return lines
}

/**
 * Renders names and values in two columns. Where a value has no room beside its name, it is wrapped; a word that is wider
 * than its column, such as a URL, has a line of its own.
 */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  columns = Infinity,
): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  const indent = width + GAP.length
  return fields
    .flatMap(([name, value]) => {
      const [first = '', ...rest] = hanging(harmless(value).replaceAll('\n', LINE_BREAK), indent, columns)
      const label = chalk.dim(name.padEnd(width))
      // The first line is beside the name, unless it is too wide for that.
      return first.startsWith(' '.repeat(indent)) || first.trim() === ''
        ? [`${label}${GAP}${first.slice(indent)}`, ...rest]
        : [chalk.dim(name), first, ...rest]
    })
    .join('\n')
}

const LINE_BREAK = '\u240a'

/** Wraps a text into indented lines; a word that is wider than the rest of the line is indented less, or not at all. */
function hanging(text: string, indent: number, columns: number): string[] {
  if (widthOf(text) <= columns - indent) return [' '.repeat(indent) + text]
  return wrapTo(Math.max(columns - indent, 1), text).map((line) => {
    const room = Math.max(columns - widthOf(line), 0)
    return ' '.repeat(room >= indent ? indent : Math.min(room, GAP.length)) + line
  })
}

/** Blanks and mark at the start of a line, which are not repeated. */
const LEAD = /^(\s*)((?:\u001b\[\d{1,3}m)*(?:[✓✗!·→~+$-]|\d+\.)(?:\u001b\[\d{1,3}m)* )?/

/** A command to copy, with the words before it. */
const COMMAND =
  /^(\s*(?:\u001b\[\d{1,3}m)*(?:(?:\$|Next:)(?:\u001b\[\d{1,3}m)* )?(?:\u001b\[\d{1,3}m)*)(tabwire .*)$/

/**
 * Wraps each line that is wider than the terminal, between words, below its beginning. A command is continued as shells
 * do, so that it can be copied. A word that is wider than the terminal stays whole, alone on its line.
 */
export function fitTo(columns: number, text: string): string {
  if (columns === Infinity) return text
  return text
    .split('\n')
    .flatMap((line) => (widthOf(line) <= columns ? [line] : fittedLine(columns, line)))
    .join('\n')
}

function fittedLine(columns: number, line: string): string[] {
  const command = COMMAND.exec(line)
  if (command !== null) return commandLines(columns, command[1] ?? '', command[2] ?? '')
  const [lead = '', blanks = '', mark = ''] = LEAD.exec(line) ?? []
  const indent = blanks.length + GAP.length
  const [first = '', ...rest] = hanging(line.slice(lead.length), indent, columns)
  if (first.startsWith(' '.repeat(indent))) return [blanks + mark + first.slice(indent), ...rest]
  return mark === '' ? [first, ...rest] : [blanks + mark.trimEnd(), first, ...rest]
}

/** A word of a command line, with its quotes. */
const WORD = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g

/** Continues a command on further lines. A comment behind it goes above it. */
function commandLines(columns: number, before: string, text: string): string[] {
  const [command = '', comment] = text.split(/ {3}(?=(?:\u001b\[\d{1,3}m)*# )/)
  const continued = shell === 'powershell' ? ' `' : ' \\'
  const indent = ' '.repeat(widthOf(before.replace('Next: ', '')) + GAP.length)
  const lines: string[] = []
  for (const word of command.match(WORD) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(`${last} ${word}${continued}`) <= columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(last === undefined ? before + word : indent + word)
  }
  const above = comment === undefined ? [] : [before.replace(/\S.*$/, '') + comment]
  return [...above, ...lines.map((line, index) => (index < lines.length - 1 ? line + continued : line))]
}

function hasIdentifiers(rows: readonly Row[]): boolean {
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

/** Narrows the widest columns first, down to {@link SHORT}, and then those that are cut, down to {@link LEAST}. */
function fitted(natural: readonly number[], columns: number): number[] {
  const widths = narrowed(natural, columns, SHORT)
  const long = natural.map((width) => width > SHORT)
  const rest = widths.filter((_width, index) => !long[index])
  const cut = narrowed(
    widths.filter((_width, index) => long[index]),
    columns - totalOf(rest) - (rest.length > 0 ? GAP.length : 0),
    LEAST,
  )
  return widths.map((width, index) => (long[index] ? (cut.shift() ?? width) : width))
}

function narrowed(natural: readonly number[], columns: number, least: number): number[] {
  const widths = [...natural]
  while (widths.length > 0 && totalOf(widths) > columns) {
    const widest = Math.max(...widths)
    if (widest <= least) return widths
    const next = Math.max(...widths.filter((width) => width < widest), least)
    const wide = widths.filter((width) => width === widest).length
    const spare = Math.ceil((totalOf(widths) - columns) / wide)
    for (const [index, width] of widths.entries())
      if (width === widest) widths[index] = Math.max(next, widest - spare)
  }
  return widths
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(widths.length - 1, 0)
}

/** Joins a note of several lines into one cell. */
function oneLine(cell: string): string {
  return harmless(cell).replace(/\s+/g, ' ').trim()
}

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

/** The beginning of an identifier, with the mark of a cut. */
const PART_OF_ID = /\b[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{0,25}…/

/**
 * Cuts a text to `width` columns, with `…` at the end. Keeps whole characters and all colour codes, and no part of an
 * identifier.
 */
export function cutTo(width: number, text: string): string {
  if (widthOf(text) <= width) return text
  // Made here: the first one takes as long as a tenth of a command.
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  let left = width - 1
  const kept = text.split(COLOUR).map((part) => (COLOUR.test(part) ? part : take(part)))
  return kept.join('').replace(PART_OF_ID, '…')

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

/** Cuts a name to `width` columns in its middle: names of a series, such as UUIDs, differ at their start or at their end. */
export function cutInside(width: number, name: string): string {
  if (widthOf(name) <= width) return name
  const start = cutTo(Math.ceil(width / 2), name)
  let end = ''
  for (const { segment } of [
    ...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name),
  ].reverse()) {
    if (widthOf(start) + widthOf(segment + end) > width) return start + end
    end = segment + end
  }
  return start + end
}

/** Breaks a text between words into lines of at most `width` columns. A longer word, such as an identifier, stays whole. */
export function wrapTo(width: number, text: string): string[] {
  return wrapAnsi(text, width).split('\n')
}

/**
 * Breaks a line of a body into lines of at most `columns` columns, also inside a word. Further lines are indented two
 * columns more than the first.
 */
export function breakTo(columns = Infinity, line: string): string[] {
  if (widthOf(line) <= columns) return [line]
  const text = line.trimStart()
  const blanks = line.slice(0, line.length - text.length)
  const [first = '', ...rest] = wrapAnsi(text, Math.max(columns - blanks.length - GAP.length, 1), {
    hard: true,
  }).split('\n')
  return [blanks + first, ...rest.map((one) => blanks + GAP + one)]
}

/** Widest paragraph on a terminal, in columns: longer lines are hard to read. Lines in a pipe are not wrapped. */
const MOST_TEXT_COLUMNS = 120

/** Wraps a paragraph to `columns` and indents each line. The text is at least 40 columns wide. */
export function wrapped(text: string, indent: string, columns: number): string {
  const width = Math.max(
    (columns === Infinity ? columns : Math.min(columns, MOST_TEXT_COLUMNS)) - indent.length,
    40,
  )
  // Lines of the text are indented, too: none may look like a line of ours.
  return wrapTo(width, text)
    .map((line) => indent + line)
    .join('\n')
}
