import { open, stat, lstat, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openPrivateFile, writePrivateFile } from '../../private-file.ts'
import { makeDirectories } from '../../replace-file.ts'
import { packageFile } from '../../package-file.ts'
import { CommandError } from '../errors.ts'

/** A file or pipe that is open for one text. */
interface Output {
  replace(text: string): Promise<void>
  /** Closes it; a file that got no text stays as it was. */
  discard(): Promise<void>
}

/**
 * Opens a file that a flag names for output. A file is replaced as a whole and never through a symbolic link, which may have
 * come with a clone; pipes and devices are written to as they are.
 * @throws NodeJS.ErrnoException when it cannot be written.
 */
export async function openOutput(file: string, mode: number): Promise<Output> {
  return (await isPipe(file)) ? openPipe(file) : openPrivateFile(file, { mode })
}

/** Writes a text to a file that a flag names, as `openOutput` does. @throws NodeJS.ErrnoException when it cannot be written. */
export async function writeOutput(file: string, text: string, mode: number): Promise<void> {
  const output = await openOutput(file, mode)
  try {
    await output.replace(text)
  } finally {
    await output.discard()
  }
}

/**
 * Checks that a file can be written, before a long run. Leaves nothing behind. A pipe is not opened: its reader would take
 * the check for the whole text.
 * @throws NodeJS.ErrnoException when it cannot be written.
 */
export async function checkOutput(file: string): Promise<void> {
  if (!(await isPipe(file))) await (await openOutput(file, 0o600)).discard()
}

/**
 * Runs `work`, which writes or checks the file that a flag names, such as `--out`. `content` names what it holds.
 * @throws CommandError in place of a NodeJS.ErrnoException.
 */
export async function writing(
  file: string,
  { flag, content }: { flag: string; content: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `${flag}: cannot write the ${content} to ${file} (${code}).`)
  }
}

/** Returns true for a pipe or a device, such as `/dev/stdout` or a shell's `>(…)`, which cannot be replaced. */
async function isPipe(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice())
}

async function openPipe(file: string): Promise<Output> {
  const handle = await open(file, 'w')
  return { replace: (content) => handle.writeFile(content), discard: () => handle.close() }
}

/**
 * Writes one file, or several into a folder, which need not exist. All files are checked before the first is written.
 * Resolves with the paths.
 * @throws CommandError when a file differs and `force` is not set, for a symbolic link, and when it cannot be written.
 */
export async function writeOutputFiles(
  path: string,
  content: string | Readonly<Record<string, string>>,
  force: boolean,
): Promise<string[]> {
  const files: (readonly [file: string, text: string])[] =
    typeof content === 'string'
      ? [[path, content]]
      : Object.entries(content).map(([name, text]) => [join(path, name), text])
  try {
    for (const [file, text] of files) await requireReplaceable(file, text, force)
    if (typeof content !== 'string')
      for (const folder of new Set([path, ...files.map(([file]) => dirname(file))])) {
        await makeDirectories(folder)
        await refuseLink(folder, PATH)
      }
    for (const [file, text] of files) await writePrivateFile(file, text, { mode: 0o644 })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw unwritable(path, codeOf(error), PATH)
  }
  return files.map(([file]) => file)
}

/** Beginning of a file that shows what it is, in bytes. */
const HEAD_BYTES = 400

/**
 * Refuses to replace a file that is not of the kind that is written, such as a source file whose name was typed by mistake.
 * @throws CommandError unless the file is absent, empty, or begins as `kind` says.
 */
export async function requireKind(file: string, kind: RegExp, what: string): Promise<void> {
  // Links, pipes and folders are refused or written to elsewhere.
  if ((await lstat(file).catch(ifMissing))?.isFile() !== true) return
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    if (bytesRead === 0 || kind.test(buffer.toString('utf8', 0, bytesRead))) return
  } finally {
    await handle.close()
  }
  throw new CommandError(
    'file_differs',
    `${file} exists and is not ${what}, so it is not replaced. Choose another file.`,
  )
}

async function requireReplaceable(file: string, text: string, force: boolean): Promise<void> {
  const found = await lstat(file).catch(ifMissing)
  if (found === undefined || force) return
  if (found.isFile() && (await readFile(file, 'utf8')) === text) return
  throw new CommandError('file_differs', `${file} exists and differs. Pass --force to replace it.`)
}

/** Texts for coding agents, as files of the package. */
const agentFiles = {
  'SKILL.md': 'fixtures/skills/tabwire/SKILL.md',
  'llms.txt': 'fixtures/llms.txt',
} as const

/** Returns a text for coding agents. */
export function readAgentFile(name: keyof typeof agentFiles): Promise<string> {
  return readFile(packageFile(agentFiles[name]), 'utf8')
}

/**
 * Writes the skill to `tabwire/SKILL.md` in a folder of skills, which need not exist. Agents expect one folder per skill.
 * Resolves with `written: false` when the file has this text already.
 * @throws CommandError when a file differs and `force` is not set, for a symbolic link, and when it cannot be written.
 */
export async function writeSkill(
  folder: string,
  force: boolean,
): Promise<{ file: string; written: boolean }> {
  const directory = join(folder, 'tabwire')
  const file = join(directory, 'SKILL.md')
  const text = await readAgentFile('SKILL.md')
  try {
    await makeDirectories(directory)
    await refuseLink(directory, FOLDER)
    const before = (await lstat(file).catch(ifMissing))?.isFile() ? await readFile(file, 'utf8') : undefined
    if (before === text) return { file, written: false }
    if (before !== undefined && !force)
      throw new CommandError(
        'file_differs',
        `${file} exists and differs from the skill of this version. Pass --force to replace it.`,
      )
    await writePrivateFile(file, text, { mode: 0o644 })
    return { file, written: true }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw unwritable(file, codeOf(error), FOLDER)
  }
}

/** Advice for a path that cannot be written. */
const PATH = 'another path with --out'
const FOLDER = 'another folder with --write'

/** @throws CommandError for a link to a folder elsewhere, which a clone may have brought. */
async function refuseLink(folder: string, instead: string): Promise<void> {
  if ((await lstat(folder)).isSymbolicLink()) throw unwritable(folder, 'a symbolic link', instead)
}

function unwritable(path: string, why: string, instead: string): CommandError {
  return new CommandError('unwritable_file', `Cannot write ${path} (${why}). Choose ${instead}.`)
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
