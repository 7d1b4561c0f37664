import chalk from 'chalk'
import Table from 'cli-table3'
import { printable } from './text.ts'

const bare = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
  ]
    .concat(['mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

/** Rows under headings, in columns that align whatever script the cells are in. An empty list says so. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return chalk.dim(empty)
  const table = new Table({
    head: headings.map((heading) => chalk.dim(heading.toUpperCase())),
    chars: { ...bare, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => row.map(printable)))
  return trimEnds(table.toString())
}

function trimEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
