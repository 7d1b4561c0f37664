import fs, { type PathLike } from 'node:fs'
import { readFile, writeFile, rename, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readInput } from '../src/cli/files/input.ts'
import { readCredentials } from '../src/data-directory.ts'
import { createClockFile } from '../src/delivery/clock-file.ts'
import { makeDirectories, readWhenFree, removeWhenFree, replaceFile } from '../src/replace-file.ts'
import { temporaryDirectory } from './support/simulator.ts'
import { expectMode } from './support/file-mode.ts'

async function twoFiles() {
  const folder = await temporaryDirectory()
  const [from, to] = [join(folder, 'new'), join(folder, 'old')]
  await writeFile(from, 'new')
  await writeFile(to, 'old')
  return { from, to }
}

/** Renames as on Windows while another program has the file open: fails this many times, then succeeds. */
function heldOpen(times: number, code: string) {
  const seen = { tries: 0 }
  const move = async (from: PathLike, to: PathLike) => {
    if (seen.tries++ < times) throw Object.assign(new Error('held open'), { code })
    await rename(from, to)
  }
  return { seen, how: { move, pausesMs: [1, 1, 1, 1, 1, 1, 1] } }
}

describe('a file that another program holds open', () => {
  test.each(['EPERM', 'EBUSY', 'EACCES'])(
    'is replaced after five errors with %s, when the program closes it',
    async (code) => {
      const { from, to } = await twoFiles()
      const { seen, how } = heldOpen(5, code)
      await replaceFile(from, to, how)
      expect(seen.tries).toBe(6)
      expect(await readFile(to, 'utf8')).toBe('new')
      await expect(readFile(from)).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  test('stays unchanged when the program never closes it, and the error is returned', async () => {
    const { from, to } = await twoFiles()
    const { seen, how } = heldOpen(Infinity, 'EPERM')
    await expect(replaceFile(from, to, how)).rejects.toMatchObject({ code: 'EPERM' })
    expect(seen.tries).toBe(8)
    expect(await readFile(to, 'utf8')).toBe('old')
    expect(await readFile(from, 'utf8')).toBe('new')
  })

  test('is not retried after another error', async () => {
    const { from, to } = await twoFiles()
    const { seen, how } = heldOpen(Infinity, 'ENOSPC')
    await expect(replaceFile(from, to, how)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(seen.tries).toBe(1)
  })
})

/** Fails with this code this many times, then calls `work`. */
function failing<T>(times: number, code: string, work: (path: string) => Promise<T>) {
  const seen = { tries: 0 }
  const call = async (path: string) => {
    if (seen.tries++ < times) throw Object.assign(new Error('held open'), { code })
    return work(path)
  }
  return { seen, call, pausesMs: [1, 1] }
}

describe('a file that another program on Windows holds open for itself', () => {
  test('is read when the program closes it', async () => {
    const { from } = await twoFiles()
    const { seen, call, pausesMs } = failing(2, 'EBUSY', (path) => readFile(path, 'utf8'))
    expect(await readWhenFree(() => call(from), pausesMs)).toBe('new')
    expect(seen.tries).toBe(3)
  })

  test.each<[name: string, text: string, read: (folder: string) => Promise<unknown>, expected: object]>([
    ['check.json', '{}', (folder) => readInput(join(folder, 'check.json')), Buffer.from('{}')],
    ['clock.json', '{"offset_ms":7}', (folder) => createClockFile(folder).read(), { offset_ms: 7 }],
    ['credentials.json', '{"api_key":"twk_1"}', (folder) => readCredentials(folder), { api_key: 'twk_1' }],
  ])('is read a second time: %s', async (name, text, read, expected) => {
    const folder = await temporaryDirectory()
    await writeFile(join(folder, name), text)
    const held = Object.assign(new Error('held open'), { code: 'EBUSY' })
    const spy = vi.spyOn(fs.promises, 'readFile').mockRejectedValueOnce(held)
    syncBuiltinESMExports()
    onTestFinished(() => {
      spy.mockRestore()
      syncBuiltinESMExports()
    })
    expect(await read(folder)).toMatchObject(expected)
    expect(spy).toHaveBeenCalledTimes(2)
  })

  test.each([
    ['EBUSY', 3],
    ['EACCES', 1],
    ['ENOENT', 1],
  ])('is not read after %s in all of %i tries', async (code, tries) => {
    const { seen, call, pausesMs } = failing(Infinity, code, () => Promise.resolve(''))
    await expect(readWhenFree(() => call('file'), pausesMs)).rejects.toMatchObject({ code })
    expect(seen.tries).toBe(tries)
  })

  test.each(['EPERM', 'EBUSY', 'EACCES'])('is removed when the program closes it, after %s', async (code) => {
    const { from } = await twoFiles()
    const { call: remove, pausesMs } = failing(2, code, (path) => rm(path))
    await removeWhenFree(from, { remove, pausesMs, system: 'win32' })
    await expect(readFile(from)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('stays without an error when the program never closes it', async () => {
    const { seen, call: remove, pausesMs } = failing(Infinity, 'EBUSY', () => Promise.resolve())
    await removeWhenFree('file', { remove, pausesMs, system: 'win32' })
    expect(seen.tries).toBe(3)
  })

  test('is not removed on other systems, where these errors have other causes', async () => {
    const { seen, call: remove, pausesMs } = failing(Infinity, 'EPERM', () => Promise.resolve())
    const removed = removeWhenFree('file', { remove, pausesMs, system: 'linux' })
    await expect(removed).rejects.toMatchObject({ code: 'EPERM' })
    expect(seen.tries).toBe(1)
  })

  test('need not exist to be removed', async () => {
    const { from } = await twoFiles()
    await removeWhenFree(`${from}-missing`)
  })
})

describe('the directories above a file', () => {
  test('are created with their mode, down from the topmost missing one', async () => {
    const folder = await temporaryDirectory()
    const [above, below] = [join(folder, 'a'), join(folder, 'a', 'b')]
    expect(await makeDirectories(below, 0o700)).toBe(above)
    for (const path of [above, below]) await expectMode(path, 0o700)
    expect(await makeDirectories(below, 0o755)).toBeUndefined()
    await expectMode(below, 0o700)
  })

  test.skipIf(process.platform !== 'linux')(
    'end with an error in a folder that takes no entries',
    async () => {
      await expect(makeDirectories('/proc/tabwire/a/b')).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  test('are not created below a file', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    const below = makeDirectories(join(file, 'a', 'b'))
    // The code of Windows depends on its version.
    await (process.platform === 'win32'
      ? expect(below).rejects.toThrow()
      : expect(below).rejects.toMatchObject({ code: 'ENOTDIR' }))
    await expect(makeDirectories(file)).rejects.toMatchObject({ code: 'EEXIST' })
  })

  test('may be the root of the file system, which Windows refuses to create', async () => {
    const { root } = parse(tmpdir())
    expect(await makeDirectories(root)).toBeUndefined()
    const refusal = Object.assign(new Error('root of a drive'), { code: 'EPERM' })
    const refused = vi.spyOn(fs.promises, 'mkdir').mockRejectedValue(refusal)
    syncBuiltinESMExports()
    onTestFinished(() => {
      refused.mockRestore()
      syncBuiltinESMExports()
    })
    expect(await makeDirectories(root)).toBeUndefined()
    await expect(makeDirectories(join(root, 'a'))).rejects.toBe(refusal)
  })
})
