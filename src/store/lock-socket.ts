import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import { OWNER_ONLY } from './disk.ts'
import { codeOf } from './errors.ts'

/** A socket in a directory that stays open until it is closed or this process ends. */
export interface LockSocket {
  /** Name of the file; on Windows, of a named pipe. */
  name: string
  close(): void
}

/** True when a file of a data directory is a lock socket. */
export function isLockSocket(name: string): boolean {
  return /^lock-[0-9a-f]{16}\.sock$/.test(name)
}

/**
 * Opens a socket in a directory, accessible to its owner only. It accepts connections and closes them; it does not keep the
 * process alive. `undefined` when the file system supports no sockets, or the address is too long.
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
 * True when the process that opened this socket still has it open, also in another container: the kernel finds a socket by
 * its file. `undefined` when this cannot be known: the file is gone, or belongs to another user.
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
 * Calls `use` with an address of the socket. On Linux, a path that is too long is reached through its open directory.
 * Elsewhere `use` fails; process ids then suffice, since there are no process namespaces.
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
