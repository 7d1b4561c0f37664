import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWNER_ONLY, shownDirectory } from './disk.ts'
import { codeOf, DirectoryInUse } from './errors.ts'
import { isRunning, ownIdentity, type ProcessIdentity } from '../process-identity.ts'

/** A directory that this process has taken. */
export interface Lock {
  /** Whoever had it before did not close it with everything in the snapshot, so there is a journal. */
  leftOpen: boolean
  /** Gives it back, `closed` when everything is in the snapshot; unless that is said, it is as it was found. */
  release(closed?: boolean): void
}

/**
 * Takes a directory for this process.
 *
 * Each holder makes the file `lock.<n>`, one above the highest there is, and names itself in it. Of all who find the
 * same dead holder, one can make the next file; and since the highest is never removed, not even when it is given
 * back, nobody who decided upon an old look at the directory can slip in beside it. There is nothing to wait for: the
 * lock of a killed process is a number that has been used.
 * @throws DirectoryInUse at once, when a running process has it.
 */
export function acquireLock(directory: string): Lock {
  for (;;) {
    const newest = locksIn(directory).at(-1) ?? 0
    refuseWhenHeld(directory, newest)
    const leftOpen = newest > 0 && !wasClosed(lockPath(directory, newest))
    const mine = lockPath(directory, newest + 1)
    if (!createWhole(directory, mine)) continue
    if (locksIn(directory).some((number) => number > newest + 1)) {
      rmSync(mine, { force: true })
      continue
    }
    removeOlder(directory, newest)
    return { leftOpen, release: (closed = !leftOpen) => giveBack(mine, closed) }
  }
}

/** Who runs with the directory open, if anybody does; `undefined` also when there is no such directory. */
export function holderIn(directory: string): ProcessIdentity | undefined {
  try {
    const holder = holderOf(lockPath(directory, locksIn(directory).at(-1) ?? 0))
    return holder !== undefined && isRunning(holder) ? holder : undefined
  } catch {
    return undefined
  }
}

/** Whether whoever had the directory last did not close it. */
export function isLeftOpen(directory: string): boolean {
  const newest = locksIn(directory).at(-1)
  return newest !== undefined && !wasClosed(lockPath(directory, newest))
}

/** A lock that was given back says `{"closed":true}`, unless what it gave back was left open before. */
function wasClosed(path: string): boolean {
  try {
    const { closed } = JSON.parse(readFileSync(path, 'utf8')) as { closed?: unknown }
    return closed === true
  } catch {
    return false
  }
}

/** Leaves a lock that names no process. If not even that can be written, it is void when this process ends. */
function giveBack(path: string, closed: boolean): void {
  try {
    writeFileSync(path, `${JSON.stringify({ closed })}\n`)
  } catch {
    // Nothing that the caller could do about it.
  }
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`)
}

function locksIn(directory: string): number[] {
  return readdirSync(directory)
    .flatMap((name) => /^lock\.([1-9]\d{0,14})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

function refuseWhenHeld(directory: string, number: number): void {
  const holder = holderOf(lockPath(directory, number))
  if (holder !== undefined && isRunning(holder))
    throw new DirectoryInUse(shownDirectory(directory), holder.pid)
}

/** `undefined` when the lock was given back, is gone, or lost its content in a power cut. */
function holderOf(path: string): ProcessIdentity | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessIdentity>
    return Number.isInteger(pid) && typeof started === 'string' ? { pid: Number(pid), started } : undefined
  } catch {
    return undefined
  }
}

/** Makes a lock file that has its content from the first moment on; false when somebody else has made it. */
function createWhole(directory: string, path: string): boolean {
  const draft = join(directory, `lock-${process.pid}-${randomBytes(4).toString('hex')}`)
  const content = `${JSON.stringify(ownIdentity)}\n`
  writeFileSync(draft, content, { mode: OWNER_ONLY })
  try {
    return unlessTaken(() => linkSync(draft, path)) ?? createPlainly(path, content)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** For file systems without hard links. Somebody may see the file a moment before its content, and take it for stale. */
function createPlainly(path: string, content: string): boolean {
  const created = unlessTaken(() => writeFileSync(path, content, { flag: 'wx', mode: OWNER_ONLY }))
  if (created === undefined) throw new Error('A file can be neither linked nor made.')
  return created
}

const cannotLink = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function unlessTaken(create: () => void): boolean | undefined {
  try {
    create()
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (code === 'EEXIST' || code === 'ENOENT') return false // Taken; or our draft was swept away by who took it.
    if (cannotLink.has(code)) return undefined
    throw error
  }
}

/** The numbers that are used up, and drafts of processes that were killed over them. */
function removeOlder(directory: string, newest: number): void {
  for (const number of locksIn(directory))
    if (number <= newest) rmSync(lockPath(directory, number), { force: true })
  for (const name of readdirSync(directory))
    if (/^lock-\d+-[0-9a-f]{8}$/.test(name)) rmSync(join(directory, name), { force: true })
}
