import {
  access,
  constants,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { OWNER_ONLY, shownDirectory, storeFiles } from '../disk.ts'
import { codeOf, reasonOf } from '../errors.ts'
import { holderIn, isLeftOpen, newDraft } from '../lock.ts'

/** A file or folder of the data directory: its relative path with slashes; `mode` without the type. */
interface Entry {
  name: string
  mode: number
  size: number
  folder: boolean
}

/** Content of a file; `undefined` when there is none, a text with the reason when it is unreadable. */
export type Content = Buffer | string | undefined

type Access = 'ok' | 'missing' | { why: string }

/** All facts about a data directory that a diagnosis needs. */
export interface Survey {
  /** The name of the directory in messages. */
  shown: string
  /** Whether the directory can be used; `why` is in words. */
  access: Access
  mode: number
  /** The process that has it open. */
  holder: number | undefined
  /** The last process did not close it, so a journal must exist. */
  leftOpen: boolean
  entries: readonly Entry[]
  snapshot: Content
  old: Content
  current: Content
  credentials: Content
}

/** Reads a data directory. Changes nothing, but creates and removes a file to see whether it can. */
export async function surveyDirectory(directory: string): Promise<Survey> {
  const allowed = await accessTo(directory)
  const found = { shown: shownDirectory(directory), access: allowed, mode: 0, leftOpen: false, entries: [] }
  const contents = { snapshot: undefined, old: undefined, current: undefined, credentials: undefined }
  if (allowed !== 'ok') return { ...found, ...contents, holder: undefined }
  const files = storeFiles(directory)
  const holder = (await holderIn(directory))?.pid
  // In reverse order of a compaction, so that records missing in one file are in the next one read.
  const current = await contentOf(files.current.path)
  const old = await contentOf(files.old.path)
  return {
    ...found,
    mode: modeOf(await stat(directory)),
    holder,
    leftOpen: isLeftOpen(directory),
    entries: await entriesIn(directory),
    current,
    old,
    snapshot: await contentOf(files.snapshot.path),
    credentials: await contentOf(join(directory, 'credentials.json')),
  }
}

async function accessTo(directory: string): Promise<Access> {
  try {
    if (!(await stat(directory)).isDirectory()) return { why: 'it is a file, not a directory' }
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    const why = await whyNotWritable(directory)
    return why === undefined ? 'ok' : { why }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return { why: reasonOf(error) }
    const why = await whyNotMakeable(directory)
    return why === undefined ? 'missing' : { why }
  }
}

async function contentOf(path: string): Promise<Content> {
  try {
    return await readFile(path)
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : reasonOf(error)
  }
}

async function entriesIn(directory: string): Promise<Entry[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true })
  const entries = found
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => entryAt(directory, join(entry.parentPath, entry.name)))
  const named = (await Promise.all(entries)).flat()
  return named.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Empty when the file is gone: a running service creates and removes files. */
async function entryAt(directory: string, path: string): Promise<Entry[]> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return []
  const name = relative(directory, path).split(sep).join('/')
  return [{ name, mode: modeOf(found), size: found.size, folder: found.isDirectory() }]
}

function modeOf({ mode }: { mode: number }): number {
  return mode & 0o777
}

/** Files without secrets: `.gitignore`, and certificates, which are public. */
const isPublic = (name: string) => name.endsWith('.gitignore') || /(?<!key)\.pem$/.test(name)

/** Tabwire's own files in a data directory; it may have others. */
const OWN =
  /^(?:\.|(?:db|clock|credentials|run)\.json.*|\..*\.tmp|journal\b.*|lock[.-].*|(?:ca|ca-\w+|listen|states)(?:\/.*)?)$/

/** Returns the mode to set when others than the owner have access to a file of Tabwire; else `undefined`. */
export function modeWanted({
  name,
  mode,
  folder,
}: Pick<Entry, 'name' | 'mode' | 'folder'>): number | undefined {
  // A directory that others may only pass through hides its names, and its files have modes of their own.
  const forbidden = folder ? 0o066 : 0o077
  if (process.platform === 'win32' || !OWN.test(name) || isPublic(name) || (mode & forbidden) === 0)
    return undefined
  return folder ? 0o700 : 0o600
}

/** Returns why a directory is not writable, in words. Creates and removes a file named like a lock draft. */
function whyNotWritable(directory: string): Promise<string | undefined> {
  const draft = newDraft(directory)
  return reasonFor(async () => {
    try {
      await writeFile(draft, '\n', { flag: 'wx', mode: OWNER_ONLY })
    } finally {
      await rm(draft, { force: true })
    }
  })
}

/** Returns why a missing directory cannot be created, in words. Creates and removes a directory at its nearest parent. */
async function whyNotMakeable(directory: string): Promise<string | undefined> {
  if ((await lstat(directory).catch(() => undefined)) !== undefined) return 'it is a link to a missing target'
  return reasonFor(async () =>
    rmdir(await mkdtemp(join(await existingAncestor(resolve(directory)), '.tabwire-'))),
  )
}

async function existingAncestor(path: string): Promise<string> {
  const above = dirname(path)
  try {
    await stat(above)
    return above
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    return existingAncestor(above)
  }
}

async function reasonFor(attempt: () => Promise<void>): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}
