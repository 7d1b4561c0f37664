import { describe, expect, it } from 'vitest'
import { copyFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { put } from '../../src/model/records.ts'
import type { Store } from '../../src/store/store.ts'
import { failingDisk } from './failing-disk.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, save, saveChecks, storedChecks } from './records.ts'

tidyUp()

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Writes checks, from this number on, until something has come to pass. */
async function writeUntil(store: Store, from: number, done: () => Promise<boolean>): Promise<number> {
  for (let number = from; ; number += 1) {
    await saveChecks(store, number)
    if (await done()) return number
  }
}

async function sizeOf(...path: readonly string[]): Promise<number> {
  return (await stat(join(...path))).size
}

/** Writes checks until the journal is compacted. Returns its size when the last of these transactions was made. */
async function sizeWhenCompacted(store: Store, directory: string, from: number): Promise<number> {
  let before = 0
  let size = await sizeOf(directory, 'journal.ndjson')
  await writeUntil(store, from, async () => {
    before = size
    size = await sizeOf(directory, 'journal.ndjson')
    return size < before
  })
  return before
}

describe('compaction', () => {
  it('runs concurrently with the service and loses nothing when the process is killed at any time', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory, { compactAtBytes: 5000 })
    for (const last of upTo(40).map((step) => step * 5)) {
      await Promise.all(upTo(5).map((number) => saveChecks(store, last - 5 + number)))
      const survivors = await openStore(await copyOf(directory))
      expect(await storedChecks(survivors)).toEqual(upTo(last))
      await survivors.close()
    }
    expect(await readdir(directory)).toContain('db.json')
    await store.close()
    expect(await storedChecks(await openStore(directory))).toEqual(upTo(200))
  })

  it('leaves no old journal behind', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory, { compactAtBytes: 1000 })
    const compacted = async () => {
      const names = await readdir(directory)
      return names.includes('db.json') && !names.includes('journal.old.ndjson')
    }
    const last = await writeUntil(store, 1, compacted)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(upTo(last))
  })

  it('begins once the journal exceeds the given size', async () => {
    const directory = await newDirectory()
    await saveChecks(await openStore(directory), 1, 2, 3)
    const three = await sizeOf(directory, 'journal.ndjson')
    const other = await newDirectory()
    const store = await openStore(other, { compactAtBytes: three })
    expect(await sizeWhenCompacted(store, other, 1)).toBe((three / 3) * 4)
  })

  it('begins once the journal also exceeds the snapshot', async () => {
    const directory = await newDirectory()
    const closed = await openStore(directory)
    await saveChecks(closed, ...upTo(20))
    await closed.close()
    const snapshot = await sizeOf(directory, 'db.json')
    const store = await openStore(directory, { compactAtBytes: 1 })
    expect(await sizeWhenCompacted(store, directory, 21)).toBeGreaterThan(snapshot)
  })

  it('that fails, for example on a full disk, stops and loses nothing, and is retried', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    const store = await openStore(directory, { compactAtBytes: 1000, openFile: disk.openFile, onNotice })
    disk.fails = (step, path) => step === 'write' && path.endsWith('.tmp')
    const failed = await writeUntil(store, 1, async () => notices.length >= 2)
    expect(notices[0]).toContain(
      'Cannot compact the journal into the snapshot: the disk is full (ENOSPC). Nothing is lost. The journal grows until a later compaction succeeds.',
    )
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(upTo(failed))

    disk.fails = () => false
    const compacted = async () => (await readdir(directory)).includes('db.json')
    const last = await writeUntil(store, failed + 1, compacted)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(upTo(last))
  })

  it('that fails is retried once the journal has grown by the given size', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const compactAtBytes = 3000
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    const store = await openStore(directory, { compactAtBytes, openFile: disk.openFile, onNotice })
    disk.fails = (step, path) => step === 'open' && path.endsWith('journal.ndjson')
    const failed = await writeUntil(store, 1, async () => notices.length === 1)
    const first = await sizeOf(directory, 'journal.old.ndjson')
    const sizes = [first]
    await writeUntil(store, failed + 1, async () => {
      sizes.push(await sizeOf(directory, 'journal.old.ndjson'))
      return notices.length === 2
    })
    expect(sizes.at(-2)).toBeGreaterThan(first + compactAtBytes)
  })

  it('is retried as soon as a full disk accepts a transaction', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    const store = await openStore(directory, { compactAtBytes: 20_000, openFile: disk.openFile, onNotice })
    disk.fails = (step, path) => step === 'write' && path.endsWith('.tmp')
    const last = await writeUntil(store, 1, async () => notices.length > 0)
    disk.fails = (step) => step === 'write'
    await expect(saveChecks(store, last + 1)).rejects.toMatchObject({ code: 'storage_unavailable' })

    disk.fails = () => false
    await saveChecks(store, last + 1)
    await saveChecks(store, last + 2)
    await expect.poll(() => readdir(directory), { timeout: 10_000 }).toContain('db.json')
  })

  it('continues in the current journal when no new one can be opened', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    const store = await openStore(directory, { compactAtBytes: 1000, openFile: disk.openFile, onNotice })
    disk.fails = (step, path) => step === 'open' && path.endsWith('journal.ndjson')
    const failed = await writeUntil(store, 1, async () => notices.length >= 2)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(upTo(failed))
    disk.fails = () => false
    const last = await writeUntil(store, failed + 1, async () =>
      (await readdir(directory)).includes('db.json'),
    )
    await store.close()
    expect(await storedChecks(await openStore(directory))).toEqual(upTo(last))
  })
})

describe('a process that was killed during compaction', () => {
  /** A directory with checks 1 and 2 in one journal, 3 and 4 in the next, and a snapshot that holds the first two. */
  async function parts() {
    const directory = await newDirectory()
    const journal = join(directory, 'journal.ndjson')
    const store = await openStore(directory)
    await saveChecks(store, 1, 2)
    const first = await readFile(journal)
    await saveChecks(store, 3, 4)
    const second = (await readFile(journal)).subarray(first.length)
    const early = await copyOf(directory)
    await writeFile(join(early, 'journal.ndjson'), first)
    await (await openStore(early)).close()
    return { directory: await copyOf(directory), first, second, snapshot: join(early, 'db.json') }
  }

  it.each([
    ['before the new journal was there', { old: true, current: false, snapshot: false }, [1, 2]],
    ['before the snapshot was there', { old: true, current: true, snapshot: false }, [1, 2, 3, 4]],
    ['before the old journal was removed', { old: true, current: true, snapshot: true }, [1, 2, 3, 4]],
    ['after everything was done', { old: false, current: true, snapshot: true }, [1, 2, 3, 4]],
  ])('%s has lost nothing', async (_, there, expected) => {
    const { directory, first, second, snapshot } = await parts()
    const [journal, old] = [join(directory, 'journal.ndjson'), join(directory, 'journal.old.ndjson')]
    await (there.current ? writeFile(journal, second) : rm(journal))
    if (there.old) await writeFile(old, first)
    if (there.snapshot) await copyFile(snapshot, join(directory, 'db.json'))
    await writeFile(join(directory, 'db.json.tmp'), '{"half": ')
    const store = await openStore(directory)
    expect(await storedChecks(store)).toEqual(expected)
    await saveChecks(store, 5)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([...expected, 5])
    await store.close()
    expect((await readdir(directory)).filter((name) => /tmp|old/.test(name))).toEqual([])
  })

  it('before the new journal was there, after an earlier snapshot, has lost nothing', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await store.replace((all) => ({ ...all, checks: [check(1)] }))
    await saveChecks(store, 2)
    const copy = await copyOf(directory)
    await rename(join(copy, 'journal.ndjson'), join(copy, 'journal.old.ndjson'))
    expect(await storedChecks(await openStore(copy))).toEqual([1, 2])
  })

  it('is followed by one that compacts with its first transaction', async () => {
    const { directory, first, second } = await parts()
    await writeFile(join(directory, 'journal.ndjson'), second)
    await writeFile(join(directory, 'journal.old.ndjson'), first)
    const store = await openStore(directory)
    await saveChecks(store, 5)
    await expect.poll(() => readdir(directory), { timeout: 10_000 }).not.toContain('journal.old.ndjson')
    expect(await readdir(directory)).toContain('db.json')
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual(upTo(5))
  })

  it('after the snapshot was there may leave transactions that do not undo an edit of it', async () => {
    const { directory } = await parts()
    const checks = [1, 2, 3].map((number) => check(number)).concat(check(4, { external_id: 'POS-edited' }))
    await writeFile(join(directory, 'db.json'), JSON.stringify({ format: 1, sequence: 4, checks }))
    const store = await openStore(directory)
    expect((await store.everything()).checks).toEqual(checks)
  })

  it('reports a missing journal between the snapshot and the current one', async () => {
    const { directory, second } = await parts()
    await writeFile(join(directory, 'journal.ndjson'), second)
    await expect(openStore(directory)).rejects.toThrow(/journal\.ndjson line 1 is damaged/)
  })

  it('may have a torn tail in the old journal only when nothing follows it', async () => {
    const { directory, first, second } = await parts()
    const [journal, old] = [join(directory, 'journal.ndjson'), join(directory, 'journal.old.ndjson')]
    await writeFile(journal, second)
    await writeFile(old, first.subarray(0, -10))
    await expect(openStore(directory)).rejects.toThrow(
      /journal\.old\.ndjson is damaged: its last line is incomplete/,
    )
    const line = first.subarray(first.indexOf('\n') + 1, -10)
    for (const remove of [() => rm(journal), () => writeFile(journal, '')]) {
      await remove()
      const copy = await copyOf(directory)
      const notices: string[] = []
      const store = await openStore(copy, { onNotice: (notice) => notices.push(notice) })
      expect(notices).toEqual([expect.stringContaining(`journal.old.ndjson is incomplete (${line.length} `)])
      expect(await readFile(join(copy, 'journal.old.ndjson.torn-1'))).toEqual(line)
      await saveChecks(store, 7)
      expect(await storedChecks(await openStore(await copyOf(copy)))).toEqual([1, 7])
    }
  })
})

describe('closing', () => {
  it('writes no snapshot when nothing was changed', async () => {
    const directory = await newDirectory()
    await (await openStore(directory)).close()
    expect(await readdir(directory)).not.toContain('db.json')
    const store = await openStore(directory)
    await saveChecks(store, 1)
    await store.close()
    const identity = async () => (await stat(join(directory, 'db.json'), { bigint: true })).ino
    const before = await identity()
    await (await openStore(directory)).close()
    expect(await identity()).toBe(before)
  })

  it('leaves a large journal to the next start', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await save(store, put('checks', check(1, { external_id: 'x'.repeat(33 * 1024 * 1024) })))
    await store.close()
    expect(await readdir(directory)).not.toContain('db.json')
    expect(await storedChecks(await openStore(directory))).toEqual([1])
  })
})
