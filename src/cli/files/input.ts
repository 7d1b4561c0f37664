import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { readWhenFree } from '../../replace-file.ts'
import { CommandError, exitCodes, usageError } from '../errors.ts'
import { X509Certificate } from 'node:crypto'
import { on } from 'node:events'

/**
 * Reads a file, or standard input for `-`. At a terminal it says on stderr that it waits for input.
 * @throws CommandError (usage) with `what` before the file's name.
 */
export async function readInput(file: string, what = ''): Promise<Buffer> {
  if (file === '-') return readStandardInput()
  try {
    return await readWhenFree(() => readFile(file))
  } catch (error) {
    throw unreadable(what + file, error)
  }
}

/** Reads as {@link readInput} does, without the byte-order mark with which some editors begin a file. */
export async function readUnmarked(file: string): Promise<Buffer> {
  const bytes = await readInput(file)
  return bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes
}

/** Yields the bytes of a file, up to the offset `end`. @throws CommandError (usage) */
export async function* readInParts(file: string, end?: number): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file, { end }) as AsyncIterable<Buffer>
  } catch (error) {
    throw unreadable(file, error)
  }
}

function unreadable(what: string, error: unknown): CommandError {
  const { code } = error as NodeJS.ErrnoException
  const why = reasons[code ?? ''] ?? String(code)
  return new CommandError('unreadable_file', `Cannot read ${what}: ${why}.`, exitCodes.usage)
}

/**
 * Removes the byte-order mark with which some editors begin a file: `JSON.parse` refuses it.
 * @throws Error for UTF-16 that was decoded as UTF-8, which turns its mark into two replacement characters.
 */
export function withoutByteOrderMark(text: string): string {
  if (/^\ufffd{2}[^]?\0/.test(text))
    throw new Error('it is UTF-16, which `>` of Windows PowerShell 5.1 writes; save it as UTF-8')
  return text.replace(/^\ufeff/, '')
}

/** Returns a file's name for messages. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : file
}

/**
 * Expands patterns such as `checks/*.json`, sorted by name. Shells of Windows pass them as they are typed.
 * @throws CommandError when no file matches a pattern.
 */
export async function expandFiles(words: readonly string[]): Promise<string[]> {
  const files = await Promise.all(words.map(async (word) => (isPattern(word) ? matching(word) : [word])))
  return files.flat()
}

function isPattern(word: string): boolean {
  return /[*?[{]/.test(word) && !existsSync(word)
}

async function matching(pattern: string): Promise<string[]> {
  const { glob } = await import('tinyglobby')
  const isWindows = platform() === 'win32'
  const text = isWindows ? pattern.replaceAll('\\', '/') : pattern
  // Only what follows is a pattern: folders before it may have brackets in their names, or be on another drive.
  const folder = text.slice(0, text.lastIndexOf('/', text.search(/[*?[{]|[@+!]\(/)) + 1)
  // A leading `!` would exclude.
  const found = await glob(text.slice(folder.length).replace(/^!(?!\()/, '\\!'), {
    cwd: folder === '' ? '.' : folder,
    expandDirectories: false,
    caseSensitiveMatch: !isWindows,
  })
  const files = found.map((file) => folder + file)
  if (files.length > 0) return files.sort()
  throw new CommandError(
    'no_such_file',
    `No file matches ${pattern}. Check the pattern and the working directory.`,
    exitCodes.usage,
  )
}

/**
 * Reads a `--cacert` file.
 * @throws CommandError when it cannot be read, or (usage) holds no certificate.
 */
export async function readCertificate(file: string): Promise<string> {
  const pem = (await readInput(file, 'the certificate ')).toString()
  if (isCertificate(pem)) return pem
  throw usageError(`--cacert must be a certificate of an authority in PEM form, got ${file}.`)
}

/** Yields a file's name after each completed write. Calls `onReady` once the files are watched. */
export async function* watchFiles(files: readonly string[], onReady: () => void): AsyncGenerator<string> {
  // Loaded late: most pushes do not watch.
  const { watch } = await import('chokidar')
  const watcher = watch([...files], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 10 },
  })
  watcher.once('ready', onReady)
  try {
    for await (const [event, file] of on(watcher, 'all') as AsyncIterable<[event: string, file: string]>)
      if (event === 'change' || event === 'add') yield file
  } finally {
    await watcher.close()
  }
}

/** Returns the keys that end standard input on this system. */
export function endOfInput(system: NodeJS.Platform = platform()): string {
  return system === 'win32' ? 'Ctrl-Z, then Enter' : 'Ctrl-D'
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EBUSY: 'another program has it open',
}

async function readStandardInput(): Promise<Buffer> {
  if (process.stdin.isTTY)
    process.stderr.write(`Reading from standard input. To end it, press ${endOfInput()}.\n`)
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function isCertificate(pem: string): boolean {
  try {
    return pem.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(pem).serialNumber !== ''
  } catch {
    return false
  }
}
