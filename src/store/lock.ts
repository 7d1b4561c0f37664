import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWNER_ONLY, shownDirectory } from './disk.ts'
import { codeOf, DirectoryInUse } from './errors.ts'
import { isLockSocket, isOpen, openLockSocket, type LockSocket } from './lock-socket.ts'
import { isRunning, ownIdentity, pidNamespace, type ProcessIdentity } from '../process-identity.ts'

/** The lock of this process on a directory. */
export interface Lock {
  /** The previous holder did not close the store, so there is a journal. */
  leftOpen: boolean
  /** Releases the lock; `closed` when the snapshot holds all records. Default: as it was found. */
  release(closed?: boolean): void
}

/** The process that a lock names. Without a socket, only processes in its namespace can tell whether it runs. */
interface Holder extends ProcessIdentity {
  namespace?: string | undefined
  socket?: string | undefined
}

/**
 * Locks a directory for this process.
 *
 * Each holder creates the file `lock.<n>`, with `n` one above the highest number, and names itself in it. Of several
 * processes that find the same dead holder, one can create the next file. The highest file is never removed, not even on
 * release, so a process with an old listing cannot lock beside a newer holder. The lock of a killed process needs no timeout.
 *
 * A holder lives while its socket is open, which every process on the same kernel can see, also from another container,
 * where process ids differ. On file systems without sockets, the process id and its start time decide: there, two containers
 * do not see each other.
 * @throws DirectoryInUse at once, when a running process has it.
 */
export async function acquireLock(directory: string, openSocket = openLockSocket): Promise<Lock> {
  for (;;) {
    const newest = locksIn(directory).at(-1) ?? 0
    await refuseWhenHeld(directory, newest)
    const leftOpen = newest > 0 && !wasClosed(lockPath(directory, newest))
    // A new socket for each try: a process that locks the directory meanwhile removes all others.
    const socket = await openSocket(directory)
    const lock = tryNumber(directory, newest + 1, socket)
    if (lock !== undefined) return { leftOpen, release: (closed = !leftOpen) => lock.giveBack(closed) }
    socket?.close()
  }
}

/** Takes the lock with this number; `undefined` when another process was first. */
function tryNumber(directory: string, number: number, socket: LockSocket | undefined) {
  const mine = lockPath(directory, number)
  const holder: Holder = { ...ownIdentity, namespace: pidNamespace, socket: socket?.name }
  const content = `${JSON.stringify(holder)}\n`
  try {
    if (!createWhole(directory, mine, content)) return undefined
    if (locksIn(directory).some((other) => other > number)) {
      rmSync(mine, { force: true })
      return undefined
    }
    removeOlder(directory, number, socket?.name)
  } catch (error) {
    socket?.close()
    throw error
  }
  return {
    giveBack(closed: boolean) {
      giveBack(mine, content, closed)
      socket?.close()
    },
  }
}

/** Returns the process that has the directory open; `undefined` when there is none, or no directory. */
export async function holderIn(directory: string): Promise<ProcessIdentity | undefined> {
  try {
    const holder = holderOf(lockPath(directory, locksIn(directory).at(-1) ?? 0))
    return holder !== undefined && (await isHeldBy(directory, holder)) ? holder : undefined
  } catch {
    return undefined
  }
}

/** True when the last holder did not close the directory. */
export function isLeftOpen(directory: string): boolean {
  const newest = locksIn(directory).at(-1)
  return newest !== undefined && !wasClosed(lockPath(directory, newest))
}

/** True when the lock was released as closed: it says `{"closed":true}`. */
function wasClosed(path: string): boolean {
  try {
    const { closed } = JSON.parse(readFileSync(path, 'utf8')) as { closed?: unknown }
    return closed === true
  } catch {
    return false
  }
}

/**
 * Replaces the lock's content by one without a process. If that fails, the lock ends with this process. Leaves a lock with
 * other content alone: the directory was replaced meanwhile.
 */
function giveBack(path: string, content: string, closed: boolean): void {
  try {
    if (readFileSync(path, 'utf8') === content) writeFileSync(path, `${JSON.stringify({ closed })}\n`)
  } catch {
    // The caller could not do anything about it.
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

async function refuseWhenHeld(directory: string, number: number): Promise<void> {
  const holder = holderOf(lockPath(directory, number))
  if (holder === undefined || !(await isHeldBy(directory, holder))) return
  throw new DirectoryInUse(shownDirectory(directory), holder.pid, {
    isVisible: holder.namespace === undefined || holder.namespace === pidNamespace,
  })
}

async function isHeldBy(directory: string, holder: Holder): Promise<boolean> {
  const open = holder.socket === undefined ? undefined : await isOpen(directory, holder.socket)
  return open ?? isRunning(holder)
}

/** Returns the holder; `undefined` when the lock was released, is gone, or lost its content in a power cut. */
function holderOf(path: string): Holder | undefined {
  try {
    const { pid, started, namespace, socket } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>
    if (!Number.isInteger(pid) || typeof started !== 'string') return undefined
    const named = typeof socket === 'string' && isLockSocket(socket) ? socket : undefined
    return { pid: Number(pid), started, namespace, socket: named }
  } catch {
    return undefined
  }
}

/** Creates a lock file together with its content; false when another process has created it. */
function createWhole(directory: string, path: string, content: string): boolean {
  const draft = join(directory, `lock-${process.pid}-${randomBytes(4).toString('hex')}`)
  writeFileSync(draft, content, { mode: OWNER_ONLY })
  try {
    return unlessTaken(() => linkSync(draft, path)) ?? createPlainly(path, content)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** For file systems without hard links: a reader may see an empty file and treat it as stale. */
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
    if (code === 'EEXIST' || code === 'ENOENT') return false // Taken, or the new holder removed our draft.
    if (cannotLink.has(code)) return undefined
    throw error
  }
}

/** Removes older locks, and drafts and sockets of killed processes. */
function removeOlder(directory: string, mine: number, socket: string | undefined): void {
  for (const number of locksIn(directory))
    if (number < mine) rmSync(lockPath(directory, number), { force: true })
  for (const name of readdirSync(directory))
    if (/^lock-\d+-[0-9a-f]{8}$/.test(name) || (isLockSocket(name) && name !== socket))
      rmSync(join(directory, name), { force: true })
}
