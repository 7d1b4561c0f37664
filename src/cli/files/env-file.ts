import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openPrivateFile, writePrivateFile } from '../../private-file.ts'
import { isInside } from '../config/settings.ts'
import { CommandError } from '../errors.ts'

/**
 * Variables that `--dotenv` writes for the application under test. A variable has the name of a flag's variable
 * only where it means the same.
 */
export interface EnvVariables {
  /** Origin of the service, as for `--url`. */
  TABWIRE_URL?: string
  /** Base URL of the API, with `/v1`. */
  TABWIRE_BASE_URL?: string
  TABWIRE_API_KEY?: string
  TABWIRE_ENDPOINT_ID?: string
  TABWIRE_SIGNING_SECRET?: string
}

/** Mode of a file that holds secrets. */
const OWNER_ONLY = 0o600

const secrets = ['TABWIRE_API_KEY', 'TABWIRE_SIGNING_SECRET'] as const satisfies (keyof EnvVariables)[]

/**
 * Opens a `.env` file for writing variables. Tries a write first: a secret that is shown once would be lost
 * otherwise.
 * @throws CommandError when the file cannot be written.
 */
export async function openEnvFile(file: string) {
  return withWriteError(file, async () => {
    const path = await followed(file)
    let mode = await modeOf(path)
    await (await openPrivateFile(path)).discard()
    await refuseUtf16(file, path)
    return {
      /**
       * Replaces and adds these variables in one atomic write. With a secret among them, the file becomes readable by
       * its owner alone; resolves with a message when that changed its mode.
       */
      write: (variables: EnvVariables): Promise<string | undefined> =>
        withWriteError(file, async () => {
          requireOneLine(file, variables)
          const before = mode
          const holdsSecret = secrets.some((name) => variables[name] !== undefined)
          if (holdsSecret && (mode & 0o077) !== 0) mode = OWNER_ONLY
          // Latin-1 keeps every byte, whatever the encoding of the other lines.
          const text = await readFile(path, 'latin1').catch(ifMissing(''))
          const bytes = Buffer.from(withVariables(text, inBytes(variables)), 'latin1')
          await writePrivateFile(path, bytes, { mode })
          // Windows has no file modes.
          if (mode === before || process.platform === 'win32') return undefined
          return `${file} now contains a secret, so only you can read it (mode ${octal(before)} → ${octal(mode)}).`
        }),
    }
  })
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

/** Follows a link inside the file's own folder. Another user may have chosen a target elsewhere. */
async function followed(file: string): Promise<string> {
  const [path, folder] = await Promise.all([
    realpath(file).catch(ifMissing(file)),
    realpath(dirname(file)).catch(ifMissing(dirname(file))),
  ])
  if (path === file || isInside(folder, path)) return path
  throw Object.assign(new Error(), { code: 'a symbolic link out of its folder' })
}

async function modeOf(path: string): Promise<number> {
  const found = await stat(path).catch(ifMissing(undefined))
  if (found === undefined) return OWNER_ONLY
  if (found.isFile()) return found.mode & 0o777
  throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'not a regular file' })
}

/** Refuses UTF-16, which `>` of Windows PowerShell 5.1 writes: appended lines would make a file that nothing reads. */
async function refuseUtf16(file: string, path: string): Promise<void> {
  const text = await readFile(path, 'latin1').catch(ifMissing(''))
  if (/^(\xff\xfe|\xfe\xff)/.test(text))
    throw new CommandError('unwritable_file', `Cannot write ${file}: it is UTF-16. Save it as UTF-8.`)
}

/** Refuses control characters: a line break in a value would start a line that shells and libraries read. */
function requireOneLine(file: string, variables: EnvVariables): void {
  for (const [name, value] of Object.entries(variables) as [string, string][])
    if (/\p{Cc}/u.test(value))
      throw new CommandError(
        'unwritable_value',
        `Cannot write ${name} to ${file}: the value contains a control character.`,
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

async function withWriteError<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `Cannot write ${file} (${code}). Choose another file.`)
  }
}

/**
 * Start of an assignment, up to its value: `export NAME = `. Sticky, so that it matches at the start of a line only.
 */
const beforeValue = /[^\S\r\n]*(?:export[^\S\r\n]+)?([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*/y

/** In UTF-8, read as Latin-1. Windows' editors begin files with it. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/**
 * Returns the text of a `.env` file with these variables: existing ones are replaced in place, new ones are appended.
 * Other lines, comments, order and line ends stay. Runs in linear time on any text: the file may have come with a
 * clone.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const found = new Set<string>()
  const unclosed = new Set<string>()
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  let replaced = mark
  for (let start = mark.length; start < text.length;) {
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
  const isOpen = lines.length > 0 && replaced !== mark && !replaced.endsWith('\n')
  return `${replaced}${isOpen ? lineEnd : ''}${lines.join('')}`
}

/**
 * Returns the end of a value: its closing quote, which may be lines below, else the end of the line or the start of a
 * comment. `unclosed` collects quotes without an end, so that the rest of the text is searched once for each.
 */
function endOfValue(text: string, start: number, unclosed: Set<string>): number {
  const quote = text[start] ?? ''
  if (['"', "'", '`'].includes(quote) && !unclosed.has(quote)) {
    const close = closingQuote(text, start + 1, quote)
    if (close !== -1) return close + 1
    unclosed.add(quote)
  }
  const line = text.slice(start, endOfLine(text, start))
  // Only a comment: the value is empty.
  if (line.startsWith('#')) return start
  const comment = line.search(/(?<=\s)#/)
  return start + (comment === -1 ? line : line.slice(0, comment)).trimEnd().length
}

/** Returns the position of the closing quote, or -1. A backslash escapes only between double quotes. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === quote) return at
    if (quote === '"' && text[at] === '\\') at += 1
  }
  return -1
}

/** Returns the position of the line break that ends the line, or the length of the text. */
function endOfLine(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) if (text[at] === '\n' || text[at] === '\r') return at
  return text.length
}

/** Quotes a value so that shells and dotenv libraries read it alike. */
function quoted(value: string): string {
  if (/^[\w.:/@%+,=-]*$/.test(value)) return value
  return value.includes("'") ? `"${value.replace(/["\\$`]/g, '\\$&')}"` : `'${value}'`
}
