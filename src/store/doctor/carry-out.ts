import { chmod, copyFile, constants, link, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { syncDirectory } from '../../replace-file.ts'
import { OWNER_ONLY } from '../disk.ts'
import type { Step } from './plan.ts'

/** Does what was planned, each step durably before the next. */
export async function carryOut(directory: string, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    await take(directory, step)
    await syncDirectory(directory)
  }
}

async function take(directory: string, step: Step): Promise<void> {
  const path = join(directory, step.name)
  if (step.do === 'set mode') return chmod(path, step.mode)
  if (step.do === 'make empty') return writeNew(path, Buffer.alloc(0))
  const aside = join(directory, step.as)
  if (step.do === 'replace') {
    const fresh = join(directory, `db.json.${randomBytes(4).toString('hex')}.tmp`)
    await writeNew(fresh, step.content)
    await keepAlso(path, aside)
    await rename(fresh, path)
  } else await rename(path, aside)
  await chmod(aside, OWNER_ONLY)
}

async function writeNew(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A second name costs nothing; where there are none, a copy. Neither overwrites anything. */
async function keepAlso(path: string, aside: string): Promise<void> {
  try {
    await link(path, aside)
  } catch {
    await copyFile(path, aside, constants.COPYFILE_EXCL)
  }
}
