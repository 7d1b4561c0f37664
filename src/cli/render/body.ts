import chalk from 'chalk'
import { printable, renderer } from './text.ts'

/** Of a page of HTML, the start is enough to know it by; and nobody reads a line that fills the screen. */
const MOST = { lines: 20, characters: 400 }

/** A body that somebody else wrote, line by line behind a bar, beginning with a line break; of a long one the start. */
export const renderBody = renderer((body: string, mostLines: number | undefined = MOST.lines): string => {
  const lines = body.trimEnd().split(/\r?\n/)
  if (lines.length === 1 && lines[0] === '') return ''
  const more = lines.length > mostLines ? [`(${lines.length - mostLines} more lines)`] : []
  const shown = [...lines.slice(0, mostLines), ...more].map(
    (line) => `\n    ${chalk.dim('│')} ${printable(bounded(line).replaceAll('\t', '  '))}`,
  )
  return shown.join('')
})

/** The same of a body under a heading; JSON is laid out for reading. */
export const renderHeaded = renderer((heading: string, body: string | null, mostLines?: number): string => {
  if (body === null || body === '') return `\n    ${chalk.dim(`${heading}: none`)}`
  return `\n    ${chalk.dim(`${heading}:`)}${renderBody(laidOut(body), mostLines)}`
})

function bounded(line: string): string {
  const characters = Array.from(line.slice(0, MOST.characters * 2 + 2))
  return characters.length > MOST.characters ? `${characters.slice(0, MOST.characters).join('')}…` : line
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
