import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ownIdentity } from '../../src/process-identity.ts'
import { isSoak } from '../soak/seeded.ts'
import { acquireLock, holderIn, isLeftOpen } from '../../src/store/lock.ts'
import { DirectoryInUse, TakenOver } from '../../src/store/errors.ts'
import { runChild, type Child } from './child.ts'
import { newDirectory, openStore, tidyUp } from './folder.ts'
import { storedChecks } from './records.ts'

tidyUp()

/** Opens the directory, prints the result, and runs until it is killed. */
const opener = `
import { openFileStore } from './store/file-store.js'
const [directory] = process.argv.slice(1)
const store = await openFileStore({ directory }).catch((error) => console.log(error.message))
if (store !== undefined) console.log('open')
// Node ends a process that drops an open file.
setInterval(() => store, 1000)`

/** Writes checks one after the other, and prints the number of each that was acknowledged. */
const writer = `
import { openFileStore } from './store/file-store.js'
const [directory, from] = process.argv.slice(1)
const store = await openFileStore({ directory, compactAtBytes: 20000 })
for (let number = Number(from); ; number += 1) {
  const id = 'chk_' + String(number).padStart(26, '0')
  await store.transact({}, () => ({ writes: [{ collection: 'checks', put: { id, external_id: id, location_id: 'l' } }] }))
  console.log(number)
}`

const open = (directory: string): Child => runChild(opener, directory)

describe('a directory', () => {
  it('is open in one process at a time: the next one fails at once and names the holder', async () => {
    const directory = await newDirectory()
    const holder = open(directory)
    expect(await holder.line()).toBe('open')
    const refused = await openStore(directory).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(DirectoryInUse)
    expect(refused).toMatchObject({ pid: holder.pid })
    expect(String(refused)).toContain(`.tabwire is in use by the process with pid ${holder.pid}`)
    await holder.kill()
  })

  it('is free again when its holder was killed', async () => {
    const directory = await newDirectory()
    for (let round = 0; round < 3; round += 1) {
      const holder = open(directory)
      expect(await holder.line()).toBe('open')
      await holder.kill()
    }
    await openStore(directory)
    expect((await readdir(directory)).filter((name) => name.startsWith('lock.'))).toEqual(['lock.4'])
  })

  it('opens for exactly one of many processes that find the lock of a killed one', async () => {
    const directory = await newDirectory()
    const killed = open(directory)
    await killed.line()
    await killed.kill()
    const many = Array.from({ length: isSoak ? 20 : 8 }, () => open(directory))
    const results = await Promise.all(many.map((child) => child.line()))
    const winner = many[results.indexOf('open')]
    expect(results.filter((result) => result === 'open')).toHaveLength(1)
    for (const result of results)
      if (result !== 'open') expect(result).toContain(`in use by the process with pid ${winner?.pid}.`)
    await Promise.all(many.map((child) => child.kill()))
  }, 30_000)

  it('was left open until a lock on it is released as closed', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const found: boolean[] = []
    for (const closed of [undefined, false, undefined, true, undefined]) {
      const lock = await acquireLock(directory)
      found.push(lock.leftOpen)
      expect(isLeftOpen(directory)).toBe(true)
      lock.release(closed)
      expect(isLeftOpen(directory)).toBe(closed === false || (closed === undefined && lock.leftOpen))
    }
    expect(found).toEqual([false, false, true, true, false])
  })

  it('whose lock was removed belongs to another process', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const lock = await acquireLock(directory)
    expect(await holderIn(directory)).toMatchObject({ pid: process.pid })
    lock.requireHeld()
    await rm(join(directory, 'lock.1'))
    expect(() => lock.requireHeld()).toThrow(TakenOver)
    lock.release()
    expect(await holderIn(directory)).toBeUndefined()
  })

  it('cannot be opened twice in this process either, but again after close', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await expect(openStore(directory)).rejects.toThrow(
      /in use by this process \(pid \d+\)\. Close the other simulator, or choose/,
    )
    await store.close()
    await openStore(directory)
  })

  it('is free for other processes after close, while this one continues', async () => {
    const directory = await newDirectory()
    await (await openStore(directory)).close()
    const next = open(directory)
    expect(await next.line()).toBe('open')
    await next.kill()
  })

  it('has every write that a killed process had acknowledged', async () => {
    const directory = await newDirectory()
    let last = 0
    for (let round = 0; round < (isSoak ? 4 : 2); round += 1) {
      const child = runChild(writer, directory, String(last + 1))
      const goal = last + 100 + round * 37
      while (last < goal) last = Number(await child.line())
      await child.kill()
      const store = await openStore(directory)
      const stored = await storedChecks(store)
      expect(stored).toEqual(stored.map((_, index) => index + 1))
      expect(stored.length).toBeGreaterThanOrEqual(last)
      last = stored.length
      await store.close()
    }
  }, 30_000)
})

describe('a lock', () => {
  it('is given back when an older one cannot be removed, so that each try says why', async () => {
    const directory = await newDirectory()
    await mkdir(join(directory, 'lock-12-0123abcd'), { recursive: true })
    for (let round = 0; round < 2; round += 1)
      await expect(acquireLock(directory)).rejects.toMatchObject({ code: 'ERR_FS_EISDIR' })
  })

  it('that is based on a stale read is given up for one with a higher number', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const link = fs.linkSync
    const faster = vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
      // Between the look at the directory and the making of the lock, another one has taken and used up this number.
      if (String(to).endsWith('lock.1'))
        fs.writeFileSync(join(directory, 'lock.2'), JSON.stringify(ownIdentity))
      link(from, to)
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      faster.mockRestore()
      syncBuiltinESMExports()
    })
    await expect(acquireLock(directory)).rejects.toThrow(DirectoryInUse)
    expect(faster).toHaveBeenCalledTimes(1)
    expect(await readdir(directory)).toEqual(['lock.2'])
  })

  it.each([
    ['names a process that ended', JSON.stringify({ pid: 2 ** 22 + 1, started: '1' })],
    ['names a process id that another process has now', JSON.stringify({ pid: process.pid, started: '1' })],
    ['lost its content in a power cut', ''],
    ['holds rubbish', '\u0000\u0000null'],
    ['names a socket that is none of a lock', JSON.stringify({ pid: 1, started: '1', socket: '../lock.7' })],
  ])('that %s does not prevent the next lock', async (_, content) => {
    const directory = await newDirectory()
    await mkdir(directory)
    await writeFile(join(directory, 'lock.7'), content)
    for (const left of ['lock-99-0123abcd', socketName]) await writeFile(join(directory, left), content)
    const { release } = await acquireLock(directory)
    expect((await readdir(directory)).filter((name) => !name.endsWith('.sock'))).toEqual(['lock.8'])
    expect(await readdir(directory)).not.toContain(socketName)
    await expect(acquireLock(directory)).rejects.toThrow(DirectoryInUse)
    release()
    expect(await readdir(directory)).toEqual(['lock.8'])
    ;(await acquireLock(directory)).release()
  })

  it('without a socket, as on some file systems, uses the process id and its start time', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const { release } = await acquireLock(directory, async () => undefined)
    expect(await readdir(directory)).toEqual(['lock.1'])
    await expect(acquireLock(directory)).rejects.toThrow(DirectoryInUse)
    release()
    ;(await acquireLock(directory)).release()
  })

  it('whose socket was removed uses the process id and its start time', async () => {
    const directory = await newDirectory()
    const holder = open(directory)
    expect(await holder.line()).toBe('open')
    for (const name of await readdir(directory)) if (name.endsWith('.sock')) await rm(join(directory, name))
    await expect(acquireLock(directory)).rejects.toThrow(DirectoryInUse)
    await holder.kill()
    ;(await acquireLock(directory)).release()
  })

  it.skipIf(process.platform === 'win32')('has a socket that only its owner may use', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const { release } = await acquireLock(directory)
    const [socket = ''] = (await readdir(directory)).filter((name) => name.endsWith('.sock'))
    const found = await stat(join(directory, socket))
    expect([found.isSocket(), found.mode & 0o777]).toEqual([true, 0o600])
    release()
  })

  it('that another process made in a new directory at the same path is kept', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const { release } = await acquireLock(directory)
    await rm(directory, { recursive: true })
    const holder = open(directory)
    expect(await holder.line()).toBe('open')
    release()
    await expect(acquireLock(directory)).rejects.toThrow(`in use by the process with pid ${holder.pid}.`)
    await holder.kill()
  })
})

const socketName = 'lock-0123456789abcdef.sock'
