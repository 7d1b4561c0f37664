import { isAscii } from 'node:buffer'
import { lstat, open, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { newToken } from '../../ids.ts'
import { CommandError } from '../errors.ts'
import { word } from '../suggestion.ts'

interface DirectoryUse {
  /** Named by flag or environment variable; it can be a link then. */
  named: boolean
  /** The command repairs modes, so that loose ones are accepted. */
  repairsModes?: boolean
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
  { named, repairsModes = false }: DirectoryUse,
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
        `${directory} belongs to another user (uid ${found.uid}; you are ${user}), who can read and change its keys. Choose another with --data-dir; if the directory is yours, run: sudo chown -R ${user} ${pathWord(directory)}`,
      )
    if (!repairsModes && (found.mode & OTHERS_MAY_WRITE) !== 0 && (await keepsModes(directory)))
      throw unsafe(
        `Other users can write to ${directory} (mode ${(found.mode & 0o777).toString(8)}), so its keys and addresses cannot be trusted. Run: chmod go-w ${pathWord(directory)}`,
      )
  }
  await requireFiles(directory)
  const tracked = await trackedFile(directory, isDataFile)
  if (tracked !== undefined)
    throw unsafe(
      `Git tracks ${tracked}, so everyone with the repository knows the keys in ${directory}. Remove it from the repository with git rm -r --cached -- ${pathWord(directory)}, or use another directory: --data-dir DIRECTORY.`,
    )
}

/**
 * Refuses links: data would be read or written where another user chose. Refuses pipes and devices: reading one can last for
 * ever, and then no signal but SIGKILL ends the process.
 */
async function requireFiles(directory: string): Promise<void> {
  for (const folder of [directory, ...folders.map((name) => join(directory, name))]) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const other = entries.find((one) => one.isFIFO() || one.isCharacterDevice() || one.isBlockDevice())
    if (other !== undefined)
      throw unsafe(`${join(folder, other.name)} is a pipe or a device, not a file. Remove it.`)
    for (const { name } of entries.filter((entry) => entry.isSymbolicLink())) {
      const path = join(folder, name)
      // On Windows, the entry of a OneDrive file claims to be a link.
      if ((await lstat(path).catch(() => undefined))?.isSymbolicLink() === true)
        throw unsafe(
          `${path} is a symbolic link. Tabwire does not follow links in its data directory. Remove it, or replace it with the file.`,
        )
    }
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

/** Length of `DIRC`, the version and the number of entries. */
const HEADER_BYTES = 12
/** Length of an entry's times, device, inode, mode, owner and size, before its object id. */
const STAT_BYTES = 40
const EXTENDED = 0x4000

/**
 * The first file in a folder that git tracks, as a path in the work tree; `undefined` when it tracks none there, or there is
 * no repository. `isMeant` chooses among the files when the folder is the work tree itself.
 *
 * The index is read here, without git: git runs programs that the configuration of a repository names (`core.fsmonitor`).
 * Entries that git keeps elsewhere (split index, sparse directories) are not seen.
 */
export async function trackedFile(
  folder: string,
  isMeant: (path: string) => boolean,
): Promise<string | undefined> {
  const path = await realFolder(folder)
  const around = await repositoryOf(dirname(path))
  const found = around && (await trackedIn(around, path, isMeant))
  if (found !== undefined) return found
  const own = await repositoryOf(path)
  return own?.workTree === path ? trackedIn(own, path, isMeant) : undefined
}

async function trackedIn(
  repository: Repository,
  path: string,
  isMeant: (path: string) => boolean,
): Promise<string | undefined> {
  const index = await readFile(join(repository.gitDirectory, 'index')).catch(() => undefined)
  if (index === undefined) return undefined
  // A case-insensitive file system checks out `.TABWIRE` as `.tabwire`.
  const inside = relative(repository.workTree, path).split(sep).join('/').toLowerCase()
  if (inside !== '' && isAbsent(index, inside)) return undefined
  const idBytes = (await usesSha256(repository.gitDirectory)) ? 32 : 20
  for (const name of entriesOf(index, idBytes)) {
    const file = Buffer.from(name, 'latin1').toString()
    const lower = file.toLowerCase()
    if (inside === '' ? isMeant(lower) : lower === inside || lower.startsWith(`${inside}/`)) return file
  }
  return undefined
}

/**
 * Returns true when no name in the index contains this path. Reading every entry would add 0.03 s to each command in a work
 * tree of 50,000 files. Version 4 shortens names, and letters beyond ASCII have other bytes in lower case.
 */
function isAbsent(index: Buffer, path: string): boolean {
  if (index.length < HEADER_BYTES || index.readUInt32BE(4) > 3 || !isAscii(Buffer.from(path))) return false
  return !index.toString('latin1').toLowerCase().includes(path)
}

/** Resolves links above the folder, but not the folder itself, which git may track as a link. */
async function realFolder(folder: string): Promise<string> {
  const path = resolve(folder)
  const above = await realpath(dirname(path)).catch(() => dirname(path))
  return join(above, basename(path))
}

interface Repository {
  workTree: string
  gitDirectory: string
}

async function repositoryOf(folder: string): Promise<Repository | undefined> {
  const path = join(folder, '.git')
  const found = await lstat(path).catch(() => undefined)
  if (found?.isDirectory() === true) return { workTree: folder, gitDirectory: path }
  if (found?.isFile() === true) {
    // A linked work tree or a submodule.
    const [, elsewhere] = /^gitdir: (.+)$/m.exec(await readFile(path, 'utf8').catch(() => '')) ?? []
    if (elsewhere !== undefined) return { workTree: folder, gitDirectory: resolve(folder, elsewhere) }
  }
  return folder === dirname(folder) ? undefined : repositoryOf(dirname(folder))
}

async function usesSha256(gitDirectory: string): Promise<boolean> {
  const common = await readFile(join(gitDirectory, 'commondir'), 'utf8').catch(() => '.')
  const config = await readFile(resolve(gitDirectory, common.trim(), 'config'), 'utf8').catch(() => '')
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config)
}

/** Yields the paths of an index of version 2, 3 or 4 (gitformat-index), a character per byte; stops at damage. */
export function* entriesOf(index: Buffer, idBytes: 20 | 32): Generator<string> {
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return
  const version = index.readUInt32BE(4)
  if (version < 2 || version > 4) return
  let at = HEADER_BYTES
  let before = ''
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + STAT_BYTES + idBytes
    if (flagsAt + 4 > index.length) return
    let nameAt = flagsAt + ((index.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4)
    let kept = ''
    if (version === 4) {
      const dropped = offsetAt(index, nameAt)
      kept = before.slice(0, Math.max(0, before.length - dropped.value))
      nameAt = dropped.next
    }
    const end = index.indexOf(0, nameAt)
    if (end === -1) return
    const name = kept + index.toString('latin1', nameAt, end)
    yield name
    before = name
    // Up to version 3, entries are padded with one to eight zeros to a multiple of eight bytes.
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8
  }
}

/**
 * Reads a number of variable length, as in pack files: seven bits per byte, each further byte adds one (git's
 * `varint.c`).
 */
function offsetAt(index: Buffer, start: number): { value: number; next: number } {
  let next = start
  let byte = index[next++] ?? 0
  let value = byte & 0x7f
  while ((byte & 0x80) !== 0 && next < index.length) {
    byte = index[next++] ?? 0
    value = (value + 1) * 128 + (byte & 0x7f)
  }
  return { value, next }
}
