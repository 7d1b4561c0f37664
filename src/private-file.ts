import { rmSync } from 'node:fs'
import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { newToken } from './ids.ts'
import { removeWhenFree, replaceFile } from './replace-file.ts'

/** Content of a file, whole or in pieces. */
type FileContent = string | Uint8Array | AsyncIterable<string | Uint8Array>

interface PrivateFileOptions {
  /** File mode. The default is `0600`, for the owner only. */
  mode?: number
}

/** A file to be replaced, opened before its content exists, so that failures come first. */
interface PrivateDraft {
  /** Replaces the file with this content, in one step. */
  replace(content: FileContent): Promise<void>
  /** Removes the draft when nothing was written. */
  discard(): Promise<void>
}

/**
 * Writes a file that only its owner can read, completely or not at all. An existing file is replaced, so a looser mode
 * does not stay. The bytes and the directory entry are on the disk when this resolves.
 * @throws NodeJS.ErrnoException when the file cannot be written, or the path is a symbolic link or not a file.
 */
export async function writePrivateFile(
  path: string,
  content: FileContent,
  options: PrivateFileOptions = {},
): Promise<void> {
  const draft = await openPrivateFile(path, options)
  try {
    await draft.replace(content)
  } finally {
    await draft.discard()
  }
}

/**
 * Creates a private file unless another process did so first, whose file stays if it is valid. `write` gets the path of a
 * draft. @throws NodeJS.ErrnoException when the file cannot be written.
 */
export async function createPrivateFile(
  path: string,
  write: (draft: string) => Promise<void>,
  isValid: () => Promise<boolean>,
): Promise<void> {
  const draft = `${path}.${newToken()}`
  try {
    await write(draft)
    await link(draft, path).catch(async () => (await isValid()) || rename(draft, path))
  } finally {
    await rm(draft, { force: true })
  }
}

/** Open drafts, removed at exit: a command that a signal ends does not discard them. */
const drafts = new Set<string>()

function removeDrafts(): void {
  for (const draft of drafts) rmSync(draft, { force: true })
}

/** Opens a draft beside the file, which `replace` then renames to it; {@link writePrivateFile} does both. */
export async function openPrivateFile(
  path: string,
  { mode = 0o600 }: PrivateFileOptions = {},
): Promise<PrivateDraft> {
  if (path.endsWith('/') || path.endsWith(sep))
    throw Object.assign(new Error(`${path} is a directory.`), { code: 'EISDIR' })
  await requireReplaceable(path)
  // A random name, and `wx`: no other process can have created this file or a link there.
  const draft = join(dirname(path), `.${basename(path)}.${newToken()}.tmp`)
  const handle = await open(draft, 'wx', 0o600)
  if (drafts.size === 0) process.once('exit', removeDrafts)
  drafts.add(draft)
  let isOpen = true
  const close = async () => {
    if (isOpen) await handle.close()
    isOpen = false
  }
  return {
    async replace(content) {
      for await (const chunk of piecesOf(content)) await handle.writeFile(chunk)
      await handle.chmod(mode)
      await handle.sync()
      await close()
      await requireReplaceable(path)
      await replaceFile(draft, path)
    },
    async discard() {
      await close()
      await removeWhenFree(draft)
      drafts.delete(draft)
      if (drafts.size === 0) process.off('exit', removeDrafts)
    },
  }
}

function piecesOf(content: FileContent) {
  return typeof content === 'string' || content instanceof Uint8Array ? [content] : content
}

/** Refuses links, because another user may have chosen their target. */
async function requireReplaceable(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  })
  if (found === undefined || found.isFile()) return
  if (found.isDirectory()) throw Object.assign(new Error(`${path} is a directory.`), { code: 'EISDIR' })
  // Callers print the code in brackets, so it is in words.
  const reason = found.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'
  throw Object.assign(new Error(`${path} is ${reason}.`), { code: reason })
}
