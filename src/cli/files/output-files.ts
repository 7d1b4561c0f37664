import { lstat, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writePrivateFile } from '../../private-file.ts'
import { CommandError } from '../errors.ts'

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
    for (const [file, text] of files) await requireWritable(file, text, force)
    if (typeof content !== 'string')
      for (const folder of new Set([path, ...files.map(([file]) => dirname(file))])) await makeFolder(folder)
    for (const [file, text] of files) await writePrivateFile(file, text, { mode: 0o644 })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw unwritable(path, (error as NodeJS.ErrnoException).code ?? String(error))
  }
  return files.map(([file]) => file)
}

async function requireWritable(file: string, text: string, force: boolean): Promise<void> {
  const found = await lstat(file).catch(ifMissing)
  if (found === undefined || force) return
  if (found.isFile() && (await readFile(file, 'utf8')) === text) return
  throw new CommandError('file_differs', `${file} exists and differs. Pass --force to replace it.`)
}

/** A clone may have brought a link to a folder elsewhere. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await lstat(folder)).isSymbolicLink()) throw unwritable(folder, 'a symbolic link')
}

function unwritable(path: string, why: string): CommandError {
  return new CommandError('unwritable_file', `Cannot write ${path} (${why}). Choose another path with --out.`)
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
