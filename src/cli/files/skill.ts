import { lstat, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageFile } from '../../package-file.ts'
import { writePrivateFile } from '../../private-file.ts'
import { CommandError } from '../errors.ts'

/** Texts for coding agents, as files of the package. */
const files = { 'SKILL.md': 'fixtures/skills/tabwire/SKILL.md', 'llms.txt': 'fixtures/llms.txt' } as const

/** Returns a text for coding agents. */
export function readAgentFile(name: keyof typeof files): Promise<string> {
  return readFile(packageFile(files[name]), 'utf8')
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
    await mkdir(directory, { recursive: true })
    // A clone may have brought a link to a folder elsewhere.
    if ((await lstat(directory)).isSymbolicLink()) throw unwritable(directory, 'a symbolic link')
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
    throw unwritable(file, (error as NodeJS.ErrnoException).code ?? String(error))
  }
}

function unwritable(path: string, why: string): CommandError {
  return new CommandError(
    'unwritable_file',
    `Cannot write ${path} (${why}). Choose another folder with --write.`,
  )
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
