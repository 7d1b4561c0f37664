import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWNER_ONLY, shownDirectory } from './disk.ts'
import { codeOf, DirectoryInUse } from './errors.ts'
import { isLockSocket, isOpen, openLockSocket, type LockSocket } from './lock-socket.ts'
import { isRunning, ownIdentity, pidNamespace, type ProcessIdentity } from '../process-identity.ts'

/** A directory that this process has taken. */
export interface Lock {
  /** Whoever had it before did not close it with everything in the snapshot, so there is a journal. */
  leftOpen: boolean
  /** Gives it back, `closed` when everything is in the snapshot; unless that is said, it is as it was found. */
  release(closed?: boolean): void
}

/** Whom a lock names. Without a socket, only processes that see its process id know that it lives. */
interface Holder extends ProcessIdentity {
  namespace?: string | undefined
  socket?: string | undefined
}

/**
 * Takes a directory for this process.
 *
 * Each holder makes the file `lock.<n>`, one above the highest there is, and names itself in it. Of all who find the
 * same dead holder, one can make the next file; and since the highest is never removed, not even when it is given
 * back, nobody who decided upon an old look at the directory can slip in beside it. There is nothing to wait for: the
 * lock of a killed process is a number that has been used.
 *
 * A holder lives while its socket is open. That is seen by every process on the same kernel, in whatever container or
 * namespace, where a process id means another process. A file system that holds no sockets leaves the process id and the
 * time of start to go by: there, two containers on one directory do not see each other.
 * @throws DirectoryInUse at once, when a running process has it.
 */
export async function acquireLock(directory: string, openSocket = openLockSocket): Promise<Lock> {
  for (;;) {
    const newest = locksIn(directory).at(-1) ?? 0
    await refuseWhenHeld(directory, newest)
    const leftOpen = newest > 0 && !wasClosed(lockPath(directory, newest))
    // One for each try: whoever takes the directory meanwhile removes the sockets of all others.
    const socket = await openSocket(directory)
    const lock = tryNumber(directory, newest + 1, socket)
    if (lock !== undefined) return { leftOpen, release: (closed = !leftOpen) => lock.giveBack(closed) }
    socket?.close()
  }
}

/** Takes the lock of this number, unless another process is first. */
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

/** Who runs with the directory open, if anybody does; `undefined` also when there is no such directory. */
export async function holderIn(directory: string): Promise<ProcessIdentity | undefined> {
  try {
    const holder = holderOf(lockPath(directory, locksIn(directory).at(-1) ?? 0))
    return holder !== undefined && (await isHeldBy(directory, holder)) ? holder : undefined
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

/**
 * Leaves a lock that names no process. If not even that can be written, it is void when this process ends. One that is
 * not as it was made is another process's: the directory was replaced meanwhile.
 */
function giveBack(path: string, content: string, closed: boolean): void {
  try {
    if (readFileSync(path, 'utf8') === content) writeFileSync(path, `${JSON.stringify({ closed })}\n`)
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

/** `undefined` when the lock was given back, is gone, or lost its content in a power cut. */
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

/** Makes a lock file that has its content from the first moment on; false when somebody else has made it. */
function createWhole(directory: string, path: string, content: string): boolean {
  const draft = join(directory, `lock-${process.pid}-${randomBytes(4).toString('hex')}`)
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

/** The numbers that are used up, and drafts and sockets of processes that were killed over them. */
function removeOlder(directory: string, mine: number, socket: string | undefined): void {
  for (const number of locksIn(directory))
    if (number < mine) rmSync(lockPath(directory, number), { force: true })
  for (const name of readdirSync(directory))
    if (/^lock-\d+-[0-9a-f]{8}$/.test(name) || (isLockSocket(name) && name !== socket))
      rmSync(join(directory, name), { force: true })
}
