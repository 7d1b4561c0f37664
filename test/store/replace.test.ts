import fs from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Everything } from '../../src/model/records.ts'
import { runChild } from './child.ts'
import { failingDisk } from './failing-disk.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, saveChecks, storedChecks } from './records.ts'

tidyUp()

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
/** Thousands of checks with numbers that no other test uses. */
const many = upTo(3000).map((number) => number + 1000)
const others = (all: Everything) => ({ ...all, checks: many.map((number) => check(number)) })

describe('replacing everything on disk', () => {
  it('leaves the old or the new state, complete, when the process is killed at any time', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory, { compactAtBytes: 1000 })
    await saveChecks(store, 1, 2, 3)
    for (const replace of [
      others,
      (all: Everything) => ({ ...all, checks: [1, 2, 3].map((n) => check(n)) }),
    ]) {
      const state = { done: false }
      const replaced = store.replace(replace).then(() => (state.done = true))
      while (!state.done) {
        const survivor = await openStore(await copyOf(directory))
        const found = await storedChecks(survivor)
        expect([[1, 2, 3], many]).toContainEqual(found)
        await survivor.close()
      }
      await replaced
      const survivor = await openStore(await copyOf(directory))
      expect(await storedChecks(survivor)).toEqual(await storedChecks(store))
    }
    expect(await storedChecks(store)).toEqual([1, 2, 3])
  })

  it('changes nothing, in memory either, when the disk is full in the middle of it', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const store = await openStore(directory, { openFile: disk.openFile })
    await saveChecks(store, 1, 2, 3)
    const before = await store.everything()
    disk.bytesBeforeFailure = 700
    let writes = 0
    disk.fails = (step) => step === 'write' && ++writes > 5
    await expect(store.replace(others)).rejects.toMatchObject({ code: 'storage_unavailable' })
    disk.fails = () => false
    expect(await store.everything()).toEqual(before)
    expect(await (await openStore(await copyOf(directory))).everything()).toEqual(before)
    await store.replace(others)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(many)
  })

  it('twice in a row counts as two transactions, so later ones are read', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    for (const number of [2, 3]) await store.replace((all) => ({ ...all, checks: [check(number)] }))
    await saveChecks(store, 4)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([3, 4])
  })

  it('reads what was saved after a journal could not be cut', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const store = await openStore(directory, { openFile: disk.openFile })
    await saveChecks(store, 1, 2, 3)
    disk.fails = (step, path) => step === 'truncate' && path.endsWith('journal.ndjson')
    await store.replace((all) => ({ ...all, checks: [check(4)] }))
    await expect(saveChecks(store, 5)).rejects.toMatchObject({ code: 'storage_unavailable' })
    disk.fails = () => false
    await saveChecks(store, 6)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([4, 6])
  })

  it('waits for a compaction, whose snapshot would otherwise replace the new one', async () => {
    const directory = await newDirectory()
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let snapshots = 0
    const store = await openStore(directory, {
      compactAtBytes: 1000,
      async openFile(path, flags, mode) {
        const file = await open(path, flags, mode)
        if (!path.endsWith('.tmp') || ++snapshots > 1) return file
        const datasync = file.datasync.bind(file)
        return Object.assign(file, { datasync: () => released.then(datasync) })
      },
    })
    for (let number = 1; snapshots === 0; number += 1) await saveChecks(store, number)
    const state = { done: false }
    const replaced = store
      .replace((all) => ({ ...all, checks: [check(1000)] }))
      .then(() => (state.done = true))
    // More calls than a replacement makes.
    for (let call = 0; call < 200 && !state.done; call += 1) await readdir(directory)
    const { done } = state
    release()
    await replaced
    expect(done).toBe(false)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([1000])
  })

  it('needs its journal until the store is closed', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    await store.replace((all) => ({ ...all, checks: [check(2)] }))
    await saveChecks(store, 3)
    const copy = await copyOf(directory)
    await rm(join(copy, 'journal.ndjson'))
    await expect(openStore(copy)).rejects.toThrow(/journal\.ndjson is missing/)
    await store.replace((all) => ({ ...all, checks: [check(4)] }))
    await store.close()
    await rm(join(directory, 'journal.ndjson'))
    expect(await storedChecks(await openStore(directory))).toEqual([4])
  })
})

describe.skipIf(process.platform === 'win32')('a directory that cannot be opened or synced', () => {
  /** Fails after the next rename: once to open the directory, or with a code to sync it. */
  function failAfterRename(directory: string, fails: { open: true } | { sync: string }) {
    const { open, rename } = fs.promises
    let isRenamed = false
    const fail = (code: string): never => {
      isRenamed = false
      throw Object.assign(new Error(code), { code })
    }
    const spies = [
      vi.spyOn(fs.promises, 'rename').mockImplementation(async (from, to) => {
        await rename(from, to)
        isRenamed = true
      }),
      vi.spyOn(fs.promises, 'open').mockImplementation(async (path, flags, mode) => {
        if (path === directory && isRenamed && 'open' in fails) fail('EMFILE')
        const file = await open(path, flags, mode)
        if (path !== directory || !('sync' in fails)) return file
        return Object.assign(file, { sync: async () => fail(fails.sync) })
      }),
    ]
    syncBuiltinESMExports()
    const restore = () => {
      for (const spy of spies) spy.mockRestore()
      syncBuiltinESMExports()
    }
    onTestFinished(restore)
    return restore
  }

  it.each([{ open: true } as const, { sync: 'EINVAL' }, { sync: 'ENOTSUP' }, { sync: 'EBADF' }])(
    'loses no later transaction: %o',
    async (fails) => {
      const directory = await newDirectory()
      const store = await openStore(directory)
      await saveChecks(store, 1)
      failAfterRename(directory, fails)
      await store.replace((all) => ({ ...all, checks: [check(2)] }))
      await saveChecks(store, 3)
      expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([2, 3])
    },
  )

  it('accepts no transaction until a replacement succeeds', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    const restore = failAfterRename(directory, { sync: 'EIO' })
    const refused = {
      code: 'storage_unavailable',
      message:
        'It is unknown whether the disk has kept the replaced data, so nothing more is saved: the disk reports an error (EIO). Repair the disk, then restart the service.',
    }
    await expect(store.replace((all) => ({ ...all, checks: [check(2)] }))).rejects.toMatchObject(refused)
    restore()
    await expect(saveChecks(store, 3)).rejects.toMatchObject(refused)
    expect(await storedChecks(store)).toEqual([1])
    await store.replace((all) => ({ ...all, checks: [check(4)] }))
    await saveChecks(store, 5)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([4, 5])
  })

  it('keeps the records of memory when it is closed before a replacement succeeds', async () => {
    const directory = await newDirectory()
    const closed = await openStore(directory)
    await saveChecks(closed, 1)
    await closed.close()
    const store = await openStore(directory)
    await saveChecks(store, 2)
    const restore = failAfterRename(directory, { sync: 'EIO' })
    await expect(store.replace((all) => ({ ...all, checks: [check(3)] }))).rejects.toThrow(/It is unknown/)
    restore()
    await store.close()
    expect(await storedChecks(await openStore(directory))).toEqual([1, 2])
  })
})

describe('a process that is killed during a replacement', () => {
  /** Puts 2,000 checks of one generation in the place of those of the last, again and again, and says which are durable. */
  const program = `
    import { openFileStore } from './store/file-store.js'
    const store = await openFileStore({ directory: process.argv[1], compactAtBytes: 100000 })
    const check = (number, generation) => ({ id: 'chk_' + number, external_id: 'POS-' + number, location_id: 'loc_1', paid_cents: generation })
    for (let generation = 1; ; generation += 1) {
      await store.replace((all) => ({ ...all, checks: Array.from({ length: 2000 }, (_, number) => check(number, generation)) }))
      process.stdout.write(generation + '\\n')
    }`

  it.each([1, 2, 3])(
    'leaves one complete generation, none older than the last acknowledged (round %i)',
    async (round) => {
      const directory = await newDirectory()
      const child = runChild(program, directory)
      for (let line = 1; line < 2 + 3 * round; line += 1) await child.line()
      const said = Number(await child.line())
      await child.kill()
      const { checks } = await (await openStore(directory)).everything()
      const generations = [...new Set(checks.map(({ paid_cents }) => paid_cents))]
      expect(checks).toHaveLength(2000)
      expect(generations).toHaveLength(1)
      expect(generations[0]).toBeGreaterThanOrEqual(said)
    },
  )
})
