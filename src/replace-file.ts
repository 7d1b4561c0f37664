import { lstat, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { timers } from './timers.ts'

/**
 * Error codes while a virus scanner, an indexer or an editor on Windows has the file open, for a short time. Folders that
 * Windows shares with Linux pass them on.
 */
const passing = new Set<string | undefined>(['EPERM', 'EBUSY', 'EACCES'])

/** Returns true for the error code of a file that another program has open, which only Windows forbids to remove. */
export function isOpenElsewhere(
  code: string | undefined,
  system: NodeJS.Platform = process.platform,
): boolean {
  return system === 'win32' && passing.has(code)
}

/** Milliseconds between tries, 1.3 seconds in all: scanners are done by then. */
const PAUSES_MS: readonly number[] = [10, 20, 40, 80, 160, 320, 640]

/** The file was replaced, but a power cut may bring back the old one. */
export class ReplacedNotSynced extends Error {
  override readonly name = 'ReplacedNotSynced'
  readonly code: string | undefined

  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
  }
}

/**
 * Replaces a file by another in one step, durably. Retries while another program has it open; then rejects with the last
 * error and leaves both files as they are. Never writes into the existing file.
 * @throws ReplacedNotSynced when the disk fails after the replacement.
 */
export async function replaceFile(
  from: string,
  to: string,
  { move = rename, pausesMs = PAUSES_MS } = {},
): Promise<void> {
  // Opened first: after the rename, nothing but the sync can fail.
  const directory = await openDirectory(dirname(to))
  try {
    await whenFree(
      () => move(from, to),
      (code) => passing.has(code),
      pausesMs,
    )
    await directory?.sync().catch((error: unknown) => {
      throw new ReplacedNotSynced(error as NodeJS.ErrnoException)
    })
  } finally {
    await directory?.close()
  }
}

/** Calls `read`, again while another program on Windows has the file open for itself alone. */
export function readWhenFree<T>(read: () => Promise<T>, pausesMs: readonly number[] = PAUSES_MS): Promise<T> {
  return whenFree(read, (code) => code === 'EBUSY', pausesMs)
}

/** Removes a file if it exists. On Windows, retries while another program has it open; then the file stays. */
export async function removeWhenFree(
  path: string,
  {
    remove = (file: string) => rm(file, { force: true }),
    pausesMs = PAUSES_MS,
    system = process.platform,
  } = {},
): Promise<void> {
  const isOpen = (code: string | undefined) => isOpenElsewhere(code, system)
  await whenFree(() => remove(path), isOpen, pausesMs).catch((error: unknown) => {
    if (!isOpen((error as NodeJS.ErrnoException).code)) throw error
  })
}

async function whenFree<T>(
  work: () => Promise<T>,
  isOpen: (code: string | undefined) => boolean,
  pausesMs: readonly number[],
): Promise<T> {
  for (const pause of pausesMs) {
    try {
      return await work()
    } catch (error) {
      if (!isOpen((error as NodeJS.ErrnoException).code)) throw error
      await timers.sleep(pause)
    }
  }
  return work()
}

/**
 * Creates a directory and those above it. Resolves with the topmost one that was created. Does not use Node's recursive
 * mkdir, which loops for ever in a folder that takes no entries, such as /proc.
 */
export async function makeDirectories(path: string, mode?: number): Promise<string | undefined> {
  const make = () => mkdir(path, mode)
  try {
    await make()
    return path
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path)
      return unlessDirectory(path, error)
  }
  const topmost = await makeDirectories(dirname(path), mode)
  return make().then(
    () => topmost ?? path,
    (error: unknown) => unlessDirectory(path, error),
  )
}

/** Ignores the error of an existing directory: Windows reports others than EEXIST for the root of a drive. */
async function unlessDirectory(path: string, error: unknown): Promise<undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() !== true) throw error
}

/**
 * Makes git ignore a directory that holds secrets, unless it has a `.gitignore`. Replaces an empty one, which a full disk
 * left. @throws NodeJS.ErrnoException when it cannot be written.
 */
export async function ignoreInGit(directory: string): Promise<void> {
  const path = join(directory, '.gitignore')
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && (!found.isFile() || found.size > 0)) return
  await rm(path, { force: true })
  await writeFile(path, '*\n', { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
}

/** Makes created, renamed or removed entries of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await openDirectory(path)
  try {
    await directory?.sync()
  } finally {
    await directory?.close()
  }
}

/** Error codes of file systems that cannot sync a directory, such as shared folders of a virtual machine. */
const unsupported = new Set(['EINVAL', 'ENOTSUP', 'EBADF'])

/** Opens a directory, so that its entries can be made durable. Windows does this by itself. */
async function openDirectory(path: string) {
  if (process.platform === 'win32') return undefined
  const handle = await open(path)
  return {
    sync: () =>
      handle.sync().catch((error: unknown) => {
        if (!unsupported.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      }),
    close: () => handle.close(),
  }
}
