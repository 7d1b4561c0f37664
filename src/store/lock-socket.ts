import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import { OWNER_ONLY } from './disk.ts'
import { codeOf } from './errors.ts'

/** A socket in a directory that is open for as long as this process lives and does not close it. */
export interface LockSocket {
  /** Of the file; on Windows, which has no such files, of a named pipe. */
  name: string
  close(): void
}

/** Whether a file in a data directory is a socket of a lock. */
export function isLockSocket(name: string): boolean {
  return /^lock-[0-9a-f]{16}\.sock$/.test(name)
}

/**
 * Opens a socket in a directory, for its owner alone. It accepts connections and closes them; it keeps no process alive.
 * `undefined` where the file system holds no sockets, or the address would be too long.
 */
export async function openLockSocket(directory: string): Promise<LockSocket | undefined> {
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
 * Whether the process that opened this socket of a directory still has it open, in whatever container it runs: the kernel
 * finds a socket by its file. `undefined` when that cannot be known: the file is gone, or of another user.
 */
export async function isOpen(directory: string, name: string): Promise<boolean | undefined> {
  try {
    return await withAddress(directory, name, connected)
  } catch {
    return undefined
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((settle, reject) => {
    // Exclusive: in a worker of `node:cluster`, the socket would be the primary's, and outlive the worker.
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
    connection.once('error', (error) => settle(verdicts[codeOf(error) ?? '']))
  })
}

/** What a connection that fails says of the socket. */
const verdicts: Readonly<Record<string, boolean>> = {
  ECONNREFUSED: false,
  // A process that is stopped takes no connections; its queue of them is full.
  EAGAIN: true,
  // A named pipe goes with its process; the file of a socket stays, and whoever removes it says nothing of the process.
  ...(process.platform === 'win32' && { ENOENT: false, EBUSY: true }),
}

/** Bytes that the address of a socket may have: 104 on macOS and 108 on Linux, with the zero at its end. */
const LONGEST_ADDRESS = 103

/**
 * Calls `use` with an address of the socket. A path that is too long is reached by way of its open directory, on Linux;
 * elsewhere `use` fails, and needs not succeed: process ids are the same for all processes there.
 */
async function withAddress<T>(
  directory: string,
  name: string,
  use: (address: string) => Promise<T>,
): Promise<T> {
  if (process.platform === 'win32') return use(`\\\\.\\pipe\\tabwire-${name}`)
  const path = resolve(directory, name)
  if (Buffer.byteLength(path) <= LONGEST_ADDRESS) return use(path)
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return await use(join('/proc/self/fd', String(descriptor), name))
  } finally {
    closeSync(descriptor)
  }
}
