import fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished, vi } from 'vitest'

/** A call that changes the disk, recorded when it ended. A file opened with O_DSYNC completes writes on the disk. */
export interface DiskCall {
  does: 'open' | 'write' | 'sync' | 'truncate' | 'rename' | 'remove'
  /** Of a rename, the old name. */
  path: string
  /** Of `open`: as they were given. */
  flags?: string | number | undefined
  /** Of `truncate`: the bytes that are left. */
  size?: number
}

const onFile = {
  write: 'write',
  writeFile: 'write',
  sync: 'sync',
  datasync: 'sync',
  truncate: 'truncate',
} as const

/** Records calls of `node:fs/promises` by the code under test, until the test ends. */
export function recordDisk(): DiskCall[] {
  const calls: DiskCall[] = []
  const { open, rename, rm } = fs.promises
  const spies = [
    vi.spyOn(fs.promises, 'open').mockImplementation(async (path, flags, mode) => {
      const file = await open(path, flags, mode)
      if (flags !== 'r') calls.push({ does: 'open', path: String(path), flags })
      return noting(file, String(path), calls)
    }),
    vi.spyOn(fs.promises, 'rename').mockImplementation(async (from, to) => {
      await rename(from, to)
      calls.push({ does: 'rename', path: String(from) })
    }),
    vi.spyOn(fs.promises, 'rm').mockImplementation(async (path, options) => {
      await rm(path, options)
      calls.push({ does: 'remove', path: String(path) })
    }),
  ]
  syncBuiltinESMExports()
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
    syncBuiltinESMExports()
  })
  return calls
}

function noting(file: FileHandle, path: string, calls: DiskCall[]): FileHandle {
  for (const [name, does] of Object.entries(onFile) as [keyof typeof onFile, DiskCall['does']][]) {
    const original = file[name].bind(file) as (...given: unknown[]) => Promise<unknown>
    const noted = async (...given: unknown[]) => {
      const result = await original(...given)
      calls.push({ does, path, ...(does === 'truncate' && { size: Number(given[0]) }) })
      return result
    }
    Object.assign(file, { [name]: noted })
  }
  return file
}
