import { randomBytes } from 'node:crypto'
import { lstat, mkdtemp, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { OWNER_ONLY } from '../disk.ts'
import { codeOf, reasonOf } from '../errors.ts'

/** Returns why a directory is not writable, in words. Creates and removes a file named like a lock draft. */
export function whyNotWritable(directory: string): Promise<string | undefined> {
  const draft = join(directory, `lock-${process.pid}-${randomBytes(4).toString('hex')}`)
  return reasonFor(async () => {
    try {
      await writeFile(draft, '\n', { flag: 'wx', mode: OWNER_ONLY })
    } finally {
      await rm(draft, { force: true })
    }
  })
}

/** Returns why a missing directory cannot be created, in words. Creates and removes a directory at its nearest parent. */
export async function whyNotMakeable(directory: string): Promise<string | undefined> {
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
