import chalk from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'

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

/** Names and values below each other. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => stringWidth(name)))
  return fields.map(([name, value]) => `${chalk.dim(name.padEnd(width))}  ${printable(value)}`).join('\n')
}

/** A POS, a guest or a receiver wrote this text: nothing in it may steer the terminal. Our own colours stay. */
export function printable(text: string): string {
  return text.replace(
    /\u001b(?!\[\d{1,3}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g,
    '\ufffd',
  )
}

function trimEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
