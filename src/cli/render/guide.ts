import chalk from 'chalk'
import { Marked, type Token, type Tokens } from 'marked'
import { renderTable, wrapTo } from './layout.ts'
import { suggestion } from '../suggestion.ts'
import { renderer } from './text.ts'

/** Renders a Markdown text for a terminal of this many columns: headings, lists, tables and code without their marks. */
export const renderGuide = renderer((text: string, columns: number): string =>
  blocksOf(new Marked().lexer(text), columns).join('\n\n'),
)

function blocksOf(tokens: readonly Token[], columns: number): string[] {
  return tokens.flatMap((token) => {
    const text = blockOf(token, columns)
    return text === undefined ? [] : [text]
  })
}

function blockOf(token: Token, columns: number): string | undefined {
  switch (token.type) {
    case 'heading':
      return chalk.bold(token.depth === 1 ? inline(token.tokens).toUpperCase() : inline(token.tokens))
    case 'paragraph':
    case 'text':
      return filled(inline(token.tokens ?? [token]), columns)
    case 'code':
      return indented(chalk.cyan(String(token.text)), '    ')
    case 'list':
      return (token as Tokens.List).items
        .map((item, index) => itemOf(token as Tokens.List, item, index, columns))
        .join('\n')
    case 'table':
      return tableOf(token as Tokens.Table, columns)
    case 'blockquote':
      return indented(blocksOf(token.tokens ?? [], columns - 2).join('\n\n'), '  ')
    default:
      return undefined
  }
}

function itemOf(
  { ordered, start }: Tokens.List,
  { tokens }: Tokens.ListItem,
  index: number,
  columns: number,
): string {
  const mark = ordered ? `${Number(start) + index}. ` : '- '
  const [first = '', ...rest] = blocksOf(tokens, columns - mark.length)
    .join('\n')
    .split('\n')
  return [mark + first, ...rest.map((line) => ' '.repeat(mark.length) + line)].join('\n')
}

/**
 * Renders a table in columns; as a list of rows where it is too wide for that. A row with several cells below its first one
 * names the column of each, and leaves out empty ones.
 */
function tableOf({ header, rows }: Tokens.Table, columns: number): string {
  const headings = header.map(({ tokens }) => inline(tokens))
  const cells = rows.map((row) => row.map(({ tokens }) => inline(tokens)))
  const table = renderTable(headings, cells, '', columns)
  if (!table.includes('…')) return table
  const labels = headings.length > 2 ? headings.map((heading) => `${heading}: `) : []
  return cells
    .flatMap(([first = '', ...others]) => [
      filled(first, columns),
      ...others.flatMap((cell, index) => {
        const text = `${labels[index + 1] ?? ''}${cell}`
        return cell === '' ? [] : [indented(filled(text, columns - 4), '    ')]
      }),
    ])
    .join('\n')
}

function inline(tokens: readonly Token[] = []): string {
  return tokens
    .map((token): string => {
      const { type, text = '', tokens: inner } = token as Tokens.Generic
      if (type === 'codespan') return chalk.cyan(decoded(String(text)))
      if (type === 'strong') return chalk.bold(inline(inner))
      if (type === 'link') return linkOf(token as Tokens.Link)
      if (type === 'br') return '\n'
      return inner === undefined ? decoded(String(text)) : inline(inner)
    })
    .join('')
}

/** A link to another guide becomes its command; a link into the web keeps its address. */
function linkOf({ href, tokens }: Tokens.Link): string {
  const text = inline(tokens)
  const [, guide] = /^(?:\.\/)?([\w-]+)\.md(?:#.*)?$/.exec(href) ?? []
  if (guide !== undefined) return `${text} (${suggestion('help', [guide])})`
  return /^https?:/.test(href) && href !== text ? `${text} (${href})` : text
}

/** Breaks a paragraph into lines for the terminal; its line breaks in the source mean nothing. */
function filled(text: string, columns: number): string {
  return wrapTo(columns, text.replaceAll('\n', ' ')).join('\n')
}

function indented(text: string, by: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n')
}

/** marked escapes some characters of plain text for HTML. */
function decoded(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
