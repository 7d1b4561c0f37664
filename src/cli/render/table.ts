import { stripVTControlCharacters } from 'node:util'
import chalk from 'chalk'
import { harmless } from './text.ts'
import { cutTo, padTo, widthOf } from './width.ts'

type Row = readonly string[]

const GAP = '  '
/** Cells this short are dates, amounts and states: a part of one says nothing, so they are never cut. */
const SHORT = 20
const IDENTIFIER = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/

/**
 * Rows under headings, in columns that align whatever script the cells are in. An empty list says so. Where that takes more
 * than so many `columns`, identifiers go below their rows, since half of one is of no use, and then long texts are cut.
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

/** The widest columns give way first, down to {@link SHORT}; what takes more room even then is left to the terminal. */
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

/** A note of several lines is one cell. */
function oneLine(cell: string): string {
  return harmless(cell).replace(/\s+/g, ' ').trim()
}
