import { chmodSync, cpSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { openFileStore, type FileStoreOptions } from '../../src/store/file-store.ts'
import type { Store } from '../../src/store/store.ts'
import { killChildren } from './child.ts'

/** Windows may keep a file for a moment after it was closed. */
const forced = { recursive: true, force: true, maxRetries: 5 }
const folders: string[] = []
const stores: Store[] = []

/** Registers the removal of temporary directories. Call it once, at the top of the file. */
export function tidyUp(): void {
  afterEach(async () => {
    await killChildren()
    for (const store of stores.splice(0)) await store.close().catch(() => {})
    for (const folder of folders.splice(0)) await rm(folder, forced)
  })
}

/** A path `…/.tabwire` that does not exist yet, in a new temporary folder. */
export async function newDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwire-store-'))
  folders.push(folder)
  return join(folder, '.tabwire')
}

export async function openStore(directory: string, options: Partial<FileStoreOptions> = {}): Promise<Store> {
  const store = await openFileStore({ directory, ...options })
  stores.push(store)
  return store
}

/** Copies the files that a process killed now would leave, without its lock, because this process is alive. */
export async function copyOf(directory: string): Promise<string> {
  const copy = await newDirectory()
  while (!copied(directory, copy)) await rm(copy, { recursive: true })
  for (const name of await readdir(copy)) if (name.startsWith('lock')) await rm(join(copy, name))
  return copy
}

/** In one go, so that the store gets no further than the one step that is under way; if that removes a file, once more. */
function copied(directory: string, copy: string): boolean {
  try {
    // A socket cannot be copied.
    cpSync(directory, copy, { recursive: true, filter: (source) => !source.endsWith('.sock') })
    // Newer Node versions do not copy directory modes.
    chmodSync(copy, statSync(directory).mode)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
