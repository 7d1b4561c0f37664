import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/packed.ts'

/** The documents for users, as paths in the repository. */
export const documents: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'src/guides')).map((name) => `src/guides/${name}`),
  'fixtures/README.md',
  'fixtures/skills/tabwire/SKILL.md',
].filter((path) => path.endsWith('.md'))

/** A fenced block. */
export interface Block {
  document: string
  /** Line of the opening fence, counted from 1. */
  line: number
  language: string
  text: string
  /** File that the document tells readers to save it as. */
  file: string | undefined
}

export const readDocument = (path: string) => readFileSync(join(root, path), 'utf8')

/** Returns the fenced blocks of a document, in order. */
export function blocksOf(document: string, markdown = readDocument(document)): Block[] {
  const fences = markdown.matchAll(/^([ ]*)```([^\n]*)\n([^]*?)^\1```$/gm)
  return Array.from(fences, ({ 2: language = '', 3: text = '', index }) => {
    const before = markdown.slice(0, index)
    const line = before.split('\n').length
    return { document, line, language, text, file: fileOf(before, text) }
  })
}

/** `// receiver.mjs` as the first line, or "Save this as `evening.json`:" in the paragraph before the block. */
function fileOf(before: string, text: string): string | undefined {
  const [, named] = /^\/\/ ([\w.-]+\.\w+)\n/.exec(text) ?? []
  const paragraph = before.trimEnd().split('\n\n').at(-1) ?? ''
  return named ?? /\bSave (?:this|it) as `([^`]+)`/.exec(paragraph.replaceAll('\n', ' '))?.[1]
}

/** Returns a document's words without code, tables, pictures and headings: paragraphs and list items, one per line. */
export function proseOf(markdown: string): string[] {
  const text = markdown
    .replace(/^([ ]*)```[^]*?^\1```$/gm, '')
    .replace(/^(?:#|\||!\[).*$/gm, '')
    .replace(/`` ` ``/g, 'X')
    .replace(/`[^`]+`/g, 'X')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((part) =>
      part
        .trim()
        .replace(/^(?:[-*]|\d+\.) /, '')
        .replace(/\s+/g, ' '),
    )
    .filter((part) => part !== '')
}

/** Returns the words of each cell of the tables. */
export function cellsOf(markdown: string): string[] {
  const rows = markdown.replace(/^```[^]*?^```$/gm, '').matchAll(/^\|(.*)\|$/gm)
  return Array.from(rows, ([, row = '']) => row.split(/(?<!\\)\|/))
    .flat()
    .map((cell) =>
      cell
        .trim()
        .replace(/`` ` ``|`[^`]+`/g, 'X')
        .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1'),
    )
    .filter((cell) => !/^:?-*:?$/.test(cell))
}
