import { randomBytes } from 'node:crypto'
import { lstat, mkdtemp, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { OWNER_ONLY } from '../disk.ts'
import { codeOf, reasonOf } from '../errors.ts'

/** Why nothing can be written to a directory, in words; tried with a file of a lock's name, which is removed again. */
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

/** Why a directory that is not there cannot be made, in words; tried with another one beside its topmost new part. */
export async function whyNotMakeable(directory: string): Promise<string | undefined> {
  if ((await lstat(directory).catch(() => undefined)) !== undefined)
    return 'it is a link to something that does not exist'
  return reasonFor(async () =>
    rmdir(await mkdtemp(join(await nearestExisting(resolve(directory)), '.tabwire-'))),
  )
}

async function nearestExisting(path: string): Promise<string> {
  const above = dirname(path)
  try {
    await stat(above)
    return above
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    return nearestExisting(above)
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
