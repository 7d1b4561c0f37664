import { randomBytes } from 'node:crypto'
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  chmodSync,
  closeSync,
  constants,
  openSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { connect, createServer, type Server } from 'node:net'
import { OWNER_ONLY, shownDirectory } from './disk.ts'
import { codeOf, DirectoryInUse, TakenOver } from './errors.ts'
import { isOpenElsewhere } from '../replace-file.ts'
import { isRunning, ownIdentity, pidNamespace, type ProcessIdentity } from '../process-identity.ts'

/** The lock of this process on a directory. */
export interface Lock {
  /** The previous holder did not close the store, so there is a journal. */
  leftOpen: boolean
  /** @throws TakenOver when another process has removed the lock. */
  requireHeld(): void
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
 * do not see each other. Neither do two machines on a network drive. The holder that is not seen loses its lock file.
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
    if (lock !== undefined)
      return { leftOpen, ...lock, release: (closed = !leftOpen) => lock.release(closed) }
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
    giveBack(mine, content, false)
    socket?.close()
    throw error
  }
  return {
    requireHeld() {
      if (!existsSync(mine)) throw new TakenOver()
    },
    release(closed: boolean) {
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

/** Returns a new path for a draft of a lock, which the next holder removes. */
export function newDraft(directory: string): string {
  return join(directory, `lock-${process.pid}-${randomBytes(4).toString('hex')}`)
}

/** True when a file of a data directory is a draft of a lock. */
export function isLockDraft(name: string): boolean {
  return /^lock-\d+-[0-9a-f]{8}$/.test(name)
}

/** Creates a lock file together with its content; false when another process has created it. */
function createWhole(directory: string, path: string, content: string): boolean {
  const draft = newDraft(directory)
  writeFileSync(draft, content, { mode: OWNER_ONLY })
  try {
    return unlessTaken(() => linkSync(draft, path)) ?? createPlainly(path, content)
  } finally {
    removeUnlessOpen(draft)
  }
}

/** For file systems without hard links: a reader may see an empty file and treat it as stale. */
function createPlainly(path: string, content: string): boolean {
  const created = unlessTaken(() => writeFileSync(path, content, { flag: 'wx', mode: OWNER_ONLY }))
  if (created === undefined)
    throw new Error(
      `Cannot create the lock file ${path}: the file system neither links nor creates it. Choose a directory on a local disk with --data-dir.`,
    )
  return created
}

const cannotLink = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

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
  for (const number of locksIn(directory)) if (number < mine) removeUnlessOpen(lockPath(directory, number))
  for (const name of readdirSync(directory))
    if (isLockDraft(name) || (isLockSocket(name) && name !== socket)) removeUnlessOpen(join(directory, name))
}

/** Removes a file. On Windows, one that another program has open stays: the next holder removes it. */
function removeUnlessOpen(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    if (!isOpenElsewhere(codeOf(error))) throw error
  }
}

/** A socket in a directory that stays open until it is closed or this process ends. */
interface LockSocket {
  /** Name of the file; on Windows, of a named pipe. */
  name: string
  close(): void
}

/** True when a file of a data directory is a lock socket. */
function isLockSocket(name: string): boolean {
  return /^lock-[0-9a-f]{16}\.sock$/.test(name)
}

/**
 * Opens a socket in a directory, accessible to its owner only. It accepts connections and closes them; it does not keep the
 * process alive. `undefined` when the file system supports no sockets, or the address is too long.
 */
async function openLockSocket(directory: string): Promise<LockSocket | undefined> {
  const name = `lock-${randomBytes(8).toString('hex')}.sock`
  const file = resolve(directory, name)
  const server = createServer((connection) => connection.destroy()).unref()
  const close = () => {
    server.close()
    rmSync(file, { force: true })
  }
  try {
    await withAddress(directory, name, async (address) => {
      await listening(server, address)
      if (process.platform !== 'win32') chmodSync(address, OWNER_ONLY)
    })
    return { name, close }
  } catch {
    close()
    return undefined
  }
}

/**
 * True when the process that opened this socket still has it open, also in another container: the kernel finds a socket by
 * its file. `undefined` when this cannot be known: the file is gone, or belongs to another user.
 */
async function isOpen(directory: string, name: string): Promise<boolean | undefined> {
  try {
    return await withAddress(directory, name, connected)
  } catch {
    return undefined
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((settle, reject) => {
    // Exclusive: in a worker of `node:cluster`, the primary would own the socket, which would outlive the worker.
    server.on('error', reject).listen({ path, exclusive: true }, settle)
  })
}

function connected(path: string): Promise<boolean | undefined> {
  return new Promise((settle) => {
    const connection = connect(path)
    connection.once('connect', () => {
      settle(true)
      connection.destroy()
    })
    connection.once('error', (error) => settle(openByErrorCode[codeOf(error) ?? '']))
  })
}

/** Whether the socket is open, by the error code of a failed connection. */
const openByErrorCode: Readonly<Record<string, boolean>> = {
  ECONNREFUSED: false,
  // A suspended process accepts no connections, and its backlog fills up.
  EAGAIN: true,
  // A named pipe ends with its process. The file of a socket stays, so its absence says nothing.
  ...(process.platform === 'win32' && { ENOENT: false, EBUSY: true }),
}

/** Longest address of a socket in bytes: 104 on macOS and 108 on Linux, including the final zero. */
const LONGEST_ADDRESS = 103

/**
 * Calls `use` with an address of the socket. A path that is too long is reached from the working directory, and on Linux
 * through its open directory. Elsewhere `use` fails; process ids then have to suffice.
 */
async function withAddress<T>(
  directory: string,
  name: string,
  use: (address: string) => Promise<T>,
): Promise<T> {
  if (process.platform === 'win32') return use(`\\\\.\\pipe\\tabwire-${name}`)
  const path = resolve(directory, name)
  const near = relative('', path)
  for (const one of [path, near]) if (Buffer.byteLength(one) <= LONGEST_ADDRESS) return use(one)
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return await use(join('/proc/self/fd', String(descriptor), name))
  } finally {
    closeSync(descriptor)
  }
}
