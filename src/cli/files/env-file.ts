import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { openPrivateFile, writePrivateFile } from '../../private-file.ts'
import { CommandError } from '../errors.ts'

/** What `--env-file` tells the application under test. No name is that of a flag but where the flag means the same. */
export interface EnvVariables {
  /** Of the service: what the commands take for `--url`. */
  TABWIRE_URL?: string
  /** Of the API, with `/v1`. */
  TABWIRE_BASE_URL?: string
  TABWIRE_API_KEY?: string
  TABWIRE_ENDPOINT_ID?: string
  TABWIRE_SIGNING_SECRET?: string
}

/** A file that holds secrets is for its owner alone. */
const OWNER_ONLY = 0o600

const secrets = ['TABWIRE_API_KEY', 'TABWIRE_SIGNING_SECRET'] as const satisfies (keyof EnvVariables)[]

/**
 * A `.env` file that is to get variables. That it can be written is tried before there is anything to write: a secret
 * that is shown once would be lost otherwise.
 * @throws CommandError when it cannot.
 */
export async function openEnvFile(file: string) {
  return telling(file, async () => {
    const path = await followed(file)
    let mode = await modeOf(path)
    await (await openPrivateFile(path)).discard()
    return {
      /**
       * Replaces and adds these variables in one step; nobody sees half a file. With a secret among them, the file becomes
       * its owner's alone. Resolves with what to say about that, if it was not before.
       */
      write: (variables: EnvVariables): Promise<string | undefined> =>
        telling(file, async () => {
          requireOneLine(file, variables)
          const before = mode
          const holdsSecret = secrets.some((name) => variables[name] !== undefined)
          if (holdsSecret && (mode & 0o077) !== 0) mode = OWNER_ONLY
          // Latin-1 gives back every byte, in whatever encoding the other lines are.
          const text = await readFile(path, 'latin1').catch(ifMissing(''))
          const bytes = Buffer.from(withVariables(text, inBytes(variables)), 'latin1')
          await writePrivateFile(path, bytes, { mode })
          // Windows has no such modes.
          if (mode === before || process.platform === 'win32') return undefined
          return `${file} holds a secret now, so it is readable by you alone (mode ${octal(before)} → ${octal(mode)}).`
        }),
    }
  })
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

/** Where a link leads, when that is in its own folder: one that leads elsewhere may be of somebody else's choice. */
async function followed(file: string): Promise<string> {
  const [path, folder] = await Promise.all([
    realpath(file).catch(ifMissing(file)),
    realpath(dirname(file)).catch(ifMissing(dirname(file))),
  ])
  if (path === file || !relative(folder, path).startsWith('..')) return path
  throw Object.assign(new Error(), { code: 'a symbolic link out of its folder' })
}

async function modeOf(path: string): Promise<number> {
  const found = await stat(path).catch(ifMissing(undefined))
  if (found === undefined) return OWNER_ONLY
  if (found.isFile()) return found.mode & 0o777
  throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'no regular file' })
}

/** A line break in a value would be a line of its own, which shells and libraries may run or believe. */
function requireOneLine(file: string, variables: EnvVariables): void {
  for (const [name, value] of Object.entries(variables) as [string, string][])
    if (/\p{Cc}/u.test(value))
      throw new CommandError(
        'unwritable_value',
        `${name} is not written to ${file}, because its value has a control character.`,
      )
}

function inBytes(variables: EnvVariables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]: [string, string]) => [
      name,
      Buffer.from(value).toString('latin1'),
    ]),
  )
}

function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead
    throw error
  }
}

async function telling<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `${file} cannot be written (${code}). Choose another file.`)
  }
}

/** The start of an assignment, up to its value: `export NAME = `. Sticky, to match at the start of a line only. */
const beforeValue = /[^\S\r\n]*(?:export[^\S\r\n]+)?([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*/y

/**
 * The text of a `.env` file with these variables in it: those that are there are replaced, wherever they are, and new
 * ones come at the end. All other lines, comments, their order and the line ends stay as they are. Takes time in
 * proportion to the text, whatever it holds: the file may have come with a clone.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const found = new Set<string>()
  const unclosed = new Set<string>()
  let replaced = ''
  for (let start = 0; start < text.length;) {
    beforeValue.lastIndex = start
    const [before = '', name = ''] = beforeValue.exec(text) ?? []
    const valueStart = start + before.length
    const valueEnd = name === '' ? valueStart : endOfValue(text, valueStart, unclosed)
    const end = endOfLine(text, valueEnd)
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value === undefined) replaced += text.slice(start, end + 1)
    else {
      found.add(name)
      const after = text.slice(valueEnd, end)
      replaced += `${before}${quoted(value)}${after.startsWith('#') ? ' ' : ''}${after}${text.slice(end, end + 1)}`
    }
    start = end + 1
  }
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n'
  const lines = Object.entries(variables)
    .filter(([name]) => !found.has(name))
    .map(([name, value]) => `${name}=${quoted(value)}${lineEnd}`)
  const isOpen = lines.length > 0 && replaced !== '' && !replaced.endsWith('\n')
  return `${replaced}${isOpen ? lineEnd : ''}${lines.join('')}`
}

/**
 * Returns the position where a value ends: at its closing quote, which may be lines below, else at the end of the line or
 * before a comment. `unclosed` collects quotes without an end, so that the rest of the text is searched once for each.
 */
function endOfValue(text: string, start: number, unclosed: Set<string>): number {
  const quote = text[start] ?? ''
  if (['"', "'", '`'].includes(quote) && !unclosed.has(quote)) {
    const close = closingQuote(text, start + 1, quote)
    if (close !== -1) return close + 1
    unclosed.add(quote)
  }
  const line = text.slice(start, endOfLine(text, start))
  // A comment that is the whole of it leaves an empty value.
  if (line.startsWith('#')) return start
  const comment = line.search(/(?<=\s)#/)
  return start + (comment === -1 ? line : line.slice(0, comment)).trimEnd().length
}

/** The position of the quote that closes, or -1. Only between double quotes a backslash keeps one from closing. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === quote) return at
    if (quote === '"' && text[at] === '\\') at += 1
  }
  return -1
}

/** The position of the line break that ends the line, or the length of the text. */
function endOfLine(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) if (text[at] === '\n' || text[at] === '\r') return at
  return text.length
}

/** As shells and dotenv libraries both read it. */
function quoted(value: string): string {
  if (/^[\w.:/@%+,=-]*$/.test(value)) return value
  return value.includes("'") ? `"${value.replace(/["\\$`]/g, '\\$&')}"` : `'${value}'`
}
