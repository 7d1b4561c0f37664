import { lstat, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { newToken } from '../../ids.ts'
import { CommandError } from '../errors.ts'
import { word } from '../suggestion.ts'
import { trackedFile } from './git-index.ts'

interface Judged {
  /** Named by flag or environment variable; it can be a link then. */
  named: boolean
  /** The command repairs modes, so that loose ones are accepted. */
  mendsModes?: boolean
}

const OTHERS_MAY_WRITE = 0o022
/** Folders of a data directory that hold secrets and states. */
const folders = ['ca', 'listen', 'states']

/**
 * Refuses a data directory that another user may have written, as ssh does with its keys: its keys and addresses
 * would be trusted. A missing directory is accepted.
 * @throws CommandError with the reason and the command that fixes it.
 */
export async function requireOwnDirectory(
  directory: string,
  { named, mendsModes = false }: Judged,
): Promise<void> {
  const link = await lstat(directory).catch(() => undefined)
  if (link === undefined) return
  if (link.isSymbolicLink() && !named)
    throw unsafe(`${directory} is a symbolic link. To use its target, pass --data-dir DIRECTORY.`)
  const found = await stat(directory).catch(() => undefined)
  if (found?.isDirectory() !== true) return
  const user = process.getuid?.()
  if (user !== undefined) {
    if (found.uid !== user)
      throw unsafe(
        `${directory} belongs to another user (uid ${found.uid}; you are ${user}), who can read and change its keys. If the directory is yours, run: sudo chown -R ${user} ${pathWord(directory)}`,
      )
    if (!mendsModes && (found.mode & OTHERS_MAY_WRITE) !== 0 && (await keepsModes(directory)))
      throw unsafe(
        `Other users can write to ${directory} (mode ${(found.mode & 0o777).toString(8)}), so its keys and addresses cannot be trusted. Run: chmod go-w ${pathWord(directory)}`,
      )
  }
  await requireNoLinks(directory)
  const tracked = await trackedFile(directory, isDataFile)
  if (tracked !== undefined)
    throw unsafe(
      `Git tracks ${tracked}, so everyone with the repository knows the keys in ${directory}. Remove it from the repository with git rm -r --cached -- ${pathWord(directory)}, or use another directory: --data-dir DIRECTORY.`,
    )
}

/** Refuses links: data would be read or written where another user chose. */
async function requireNoLinks(directory: string): Promise<void> {
  for (const folder of [directory, ...folders.map((name) => join(directory, name))]) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const link = entries.find((entry) => entry.isSymbolicLink())
    if (link !== undefined)
      throw unsafe(
        `${join(folder, link.name)} is a symbolic link. Tabwire does not follow links in its data directory. Remove it, or replace it with the file.`,
      )
  }
}

/**
 * Returns false on file systems, such as Windows drives in WSL, that show every file as open to all and ignore chmod.
 */
async function keepsModes(directory: string): Promise<boolean> {
  const path = join(directory, `.mode.${newToken()}.tmp`)
  try {
    const handle = await open(path, 'wx', 0o600)
    try {
      return ((await handle.stat()).mode & OTHERS_MAY_WRITE) === 0
    } finally {
      await handle.close()
      await rm(path, { force: true })
    }
  } catch {
    return true
  }
}

/** Returns true for Tabwire's own files in a work tree that is the data directory itself; paths are in lower case. */
function isDataFile(path: string): boolean {
  return /^(credentials|run|db|clock|installation)\.json$|^journal.*\.ndjson$|^(ca|listen)\//.test(path)
}

function pathWord(path: string): string {
  return word(path.startsWith('-') ? `./${path}` : path)
}

function unsafe(message: string): CommandError {
  return new CommandError('unsafe_data_directory', message)
}
