import { constants } from 'node:fs'
import { open, readFile, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf, unusable } from './errors.ts'
import { ignoreInGit, makeDirectories, syncDirectory } from '../replace-file.ts'

/** The file operations of the store. Tests pass files that fail. */
export interface DiskFile {
  write(
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>
  datasync(): Promise<void>
  /** True when each write is durable when it returns. */
  writesAreDurable?: boolean
  truncate(size: number): Promise<void>
  close(): Promise<void>
}
export type OpenFile = (path: string, flags: string, mode: number) => Promise<DiskFile>

/** Opens a file with O_DSYNC where there is one: one system call makes a write durable instead of two. */
export const openDurable: OpenFile = async (path, flags, mode) => {
  const durable = (constants as { O_DSYNC?: number }).O_DSYNC
  if (durable === undefined) return open(path, flags, mode)
  const file = await open(path, flagBits(flags) | durable, mode)
  return Object.assign(file, { writesAreDurable: true })
}

function flagBits(flags: string): number {
  const making = flags.startsWith('wx') ? constants.O_CREAT | constants.O_EXCL : 0
  return constants.O_RDWR | making
}

/** Mode of files with signing secrets and guests' orders. */
export const OWNER_ONLY = 0o600
const OWNER_ONLY_DIRECTORY = 0o700

/** A file of the store: its path, and its name in messages, such as `.tabwire/db.json`. */
export interface StoreFile {
  path: string
  shown: string
}

export function fileIn(directory: string, name: string): StoreFile {
  return { path: join(directory, name), shown: `${shownDirectory(directory)}/${name}` }
}

/** Returns the files of the store in a directory. */
export function storeFiles(directory: string) {
  return {
    snapshot: fileIn(directory, 'db.json'),
    current: fileIn(directory, 'journal.ndjson'),
    old: fileIn(directory, 'journal.old.ndjson'),
  }
}

export function shownDirectory(directory: string): string {
  return basename(join(directory, '.'))
}

/** Creates the directory if it is missing, with a `.gitignore` for its content. */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    const topmost = await makeDirectories(directory, OWNER_ONLY_DIRECTORY)
    if (topmost !== undefined) await syncUpwards(dirname(directory), dirname(topmost))
    await ignoreInGit(directory)
  } catch (error) {
    throw unusable(shownDirectory(directory), error)
  }
}

/** Syncs new directories, which a power cut could otherwise remove with their acknowledged data. */
async function syncUpwards(lowest: string, highest: string): Promise<void> {
  await syncDirectory(lowest)
  if (lowest !== highest && lowest !== dirname(lowest)) await syncUpwards(dirname(lowest), highest)
}

/** Reads a whole file; `undefined` when there is none. */
export function readWhole({ path, shown }: StoreFile): Promise<Buffer | undefined> {
  return readFile(path).catch(unreadable(shown))
}

/** A file open for reading, with its size in bytes. */
export interface OpenedFile {
  file: FileHandle
  size: number
}

/** Calls `read` with an open file, or with `undefined` when there is none. */
export async function withFile<T>(
  { path, shown }: StoreFile,
  read: (opened: OpenedFile | undefined) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r').catch(unreadable(shown))
  if (file === undefined) return read(undefined)
  try {
    return await read({ file, size: (await file.stat()).size })
  } catch (error) {
    throw codeOf(error) === undefined ? error : unusable(shown, error)
  } finally {
    await file.close()
  }
}

function unreadable(shown: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unusable(shown, error)
  }
}

/** Writes all bytes; a single write may be short when the disk is nearly full. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0
  while (done < bytes.length)
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}

/** Writes and syncs a file that must not exist yet, for its owner only. */
export async function writeNewFile(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function removeFile({ path }: Pick<StoreFile, 'path'>): Promise<void> {
  await rm(path, { force: true })
}
