import { isSoak } from '../soak/seeded.ts'
import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { put } from '../../src/model/records.ts'
import type { Store } from '../../src/store/store.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, idOf, save, saveChecks, storedChecks } from './records.ts'

tidyUp()

const run = promisify(execFile)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('a stray temporary file', () => {
  it.each(['db.json.tmp', 'db.json.0123abcd.tmp'])('%s is ignored and removed', async (name) => {
    const directory = await newDirectory()
    await (await openStore(directory)).close()
    await writeFile(join(directory, name), '{"half": ')
    await saveChecks(await openStore(directory), 1)
    expect(await readdir(directory)).not.toContain(name)
  })

  it.skipIf(process.platform === 'win32')('that is a link leaves its target unchanged', async () => {
    const directory = await newDirectory()
    await mkdir(directory)
    const target = join(directory, '..', 'precious')
    await writeFile(target, 'precious')
    for (const name of ['db.json.tmp', 'db.json.0123abcd.tmp']) await symlink(target, join(directory, name))
    const store = await openStore(directory)
    await symlink(target, join(directory, 'db.json.tmp')) // Once more, while it runs.
    await saveChecks(store, 1)
    await store.close()
    expect(await readFile(target, 'utf8')).toBe('precious')
    expect((await lstat(join(directory, 'db.json'))).isFile()).toBe(true)
  })
})

it('multi-byte characters are unchanged at any position in the files', async () => {
  const directory = await newDirectory()
  // Of 1, 2, 3 and 4 bytes, in records of odd lengths, so that some lie across every border of 64 KiB.
  const names = upTo(300).map((number) => 'aé漢🍷'.repeat(40) + '漢'.repeat(number % 7))
  const store = await openStore(directory)
  await save(store, ...names.map((external_id, index) => put('checks', check(index, { external_id }))))
  const read = async (from: Store) =>
    (await from.list('checks', { limit: 1000 })).data.map(({ external_id }) => external_id).reverse()
  expect(await read(await openStore(await copyOf(directory)))).toEqual(names)
  await store.close()
  expect(await read(await openStore(directory))).toEqual(names)
})

it('many pushes to each of a thousand checks leave no more than the bound', async () => {
  const directory = await newDirectory()
  const compactAtBytes = 1024 * 1024
  const store = await openStore(directory, { compactAtBytes })
  const rounds = isSoak ? 100 : 10
  for (const paid_cents of upTo(rounds)) {
    const pushes = upTo(1000).map((number) => save(store, put('checks', check(number, { paid_cents }))))
    await Promise.all(pushes)
  }
  await store.close()
  const sizes = (await readdir(directory)).map(async (name) => (await lstat(join(directory, name))).size)
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(total).toBeLessThan(2 * compactAtBytes)
  const again = await openStore(directory)
  expect((await again.get('checks', idOf('chk', 1000)))?.paid_cents).toBe(rounds)
  expect(await storedChecks(again)).toEqual(upTo(1000))
}, 60_000)

describe('a copy made while the store is written to', () => {
  it.skipIf(process.platform === 'win32')('opens with a prefix of what was acknowledged', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    for (const round of upTo(5)) {
      const copy = await newDirectory()
      let copied = false
      const copying = run('cp', ['-r', directory, copy]).finally(() => (copied = true))
      let last = (await storedChecks(store)).length
      const before = last
      while (!copied) await saveChecks(store, ++last)
      await copying
      const stored = await storedChecks(await openStore(await copyOf(copy)))
      expect([round, stored]).toEqual([round, upTo(stored.length)])
      expect(stored.length).toBeGreaterThanOrEqual(before)
    }
  })

  it('in any order of files around a compaction opens with a prefix, or is refused', async () => {
    const { early, late } = await aroundCompaction()
    const names = [...new Set([...(await readdir(early)), ...(await readdir(late))])].filter((name) =>
      /^(db|journal)/.test(name),
    )
    for (let choice = 0; choice < 2 ** names.length; choice += 1) {
      const copy = await newDirectory()
      await mkdir(copy)
      for (const [index, name] of names.entries()) {
        const source = join(choice & (2 ** index) ? late : early, name)
        const bytes = await readFile(source).catch(() => undefined)
        if (bytes !== undefined) await writeFile(join(copy, name), bytes)
      }
      const stored = await openStore(copy).then(storedChecks, (error: unknown) => (error as Error).name)
      if (typeof stored === 'string') expect(stored).toBe('StoreDamaged')
      else if (stored.length > 0) expect(stored).toEqual(upTo(stored.length))
    }
  })

  it('can be continued: later transactions survive a restart', async () => {
    const { early, late } = await aroundCompaction()
    await writeFile(join(early, 'db.json'), await readFile(join(late, 'db.json')))
    const store = await openStore(early)
    const stored = await storedChecks(store)
    await saveChecks(store, stored.length + 1)
    expect(await storedChecks(await openStore(await copyOf(early)))).toEqual(upTo(stored.length + 1))
  })
})

/** Copies of a directory before a compaction, and after it with more written. */
async function aroundCompaction(): Promise<{ early: string; late: string }> {
  const directory = await newDirectory()
  const store = await openStore(directory, { compactAtBytes: 2000 })
  const early = [await newDirectory()]
  let number = 0
  while (!(await readdir(directory)).some((name) => name === 'db.json')) {
    await saveChecks(store, ++number)
    if (number === 3) early.unshift(await copyOf(directory))
  }
  await saveChecks(store, number + 1)
  return { early: early[0] ?? '', late: await copyOf(directory) }
}
