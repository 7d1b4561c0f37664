import { describe, expect, it } from 'vitest'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { put } from '../../src/model/records.ts'
import type { Store } from '../../src/store/store.ts'
import { failingDisk } from './failing-disk.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, delivery, idOf, save, saveChecks, storedChecks } from './records.ts'

tidyUp()

async function openOnFailingDisk(): Promise<{
  store: Store
  disk: ReturnType<typeof failingDisk>
  directory: string
}> {
  const directory = await newDirectory()
  const disk = failingDisk()
  const store = await openStore(directory, { openFile: disk.openFile })
  await saveChecks(store, 1, 2)
  return { store, disk, directory }
}

const unavailable = { status: 'rejected', reason: { code: 'storage_unavailable' } }

describe('concurrent transactions', () => {
  it('share one sync', async () => {
    const { store, disk } = await openOnFailingDisk()
    disk.syncs = 0
    await Promise.all(Array.from({ length: 50 }, (_, number) => saveChecks(store, number)))
    expect(disk.syncs).toBe(1)
  })

  it('are each a line of JSON, numbered without a gap', async () => {
    const { store, directory } = await openOnFailingDisk()
    await Promise.all([saveChecks(store, 3), saveChecks(store, 4)])
    await saveChecks(store, 5)
    const lines = (await readFile(join(directory, 'journal.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('an answer', () => {
  it('waits for the sync of the records that it read, if any', async () => {
    const { store, disk } = await openOnFailingDisk()
    disk.syncs = 0
    const syncsThen = (work: Promise<unknown>) => work.then(() => disk.syncs)
    const written = syncsThen(saveChecks(store, 3))
    const read = syncsThen(store.get('checks', idOf('chk', 3)))
    const decided = syncsThen(store.transact({}, () => ({ writes: [] })))
    expect(disk.syncs).toBe(0)
    expect(await Promise.all([written, read, decided])).toEqual([1, 1, 1])
    disk.syncs = 0
    await store.list('checks', { limit: 1 })
    expect(disk.syncs).toBe(0)
  })

  it('waits for a record that is being written', async () => {
    const { store, disk } = await openOnFailingDisk()
    let read: Promise<number> | undefined
    disk.fails = (step) => {
      if (step === 'write') read ??= store.get('checks', idOf('chk', 3)).then(() => disk.syncs)
      return false
    }
    disk.syncs = 0
    await saveChecks(store, 3)
    expect(await read).toBe(1)
  })

  it('waits for a stored record that is being changed', async () => {
    const { store, disk } = await openOnFailingDisk()
    disk.syncs = 0
    const changed = save(store, put('checks', check(1, { paid_cents: 7 })))
    const syncs = await store.get('checks', idOf('chk', 1)).then(() => disk.syncs)
    await changed
    expect(syncs).toBe(1)
  })

  it('about a durable record does not wait for other transactions', async () => {
    const { store, disk } = await openOnFailingDisk()
    disk.fails = (step) => step === 'datasync'
    const written = saveChecks(store, 3)
    await expect(store.get('checks', idOf('chk', 1))).resolves.toEqual(check(1))
    await expect(written).rejects.toMatchObject(unavailable.reason)
  })

  it('reports no delivery as due before it is durable', async () => {
    const { store } = await openOnFailingDisk()
    const due = () => store.due({ now: new Date(), perEndpoint: 1 })
    const written = save(store, put('deliveries', delivery(1)))
    expect((await due()).deliveries).toEqual([])
    await written
    expect((await due()).deliveries).toEqual([delivery(1)])
  })

  it('is refused when a record that it read could not be stored', async () => {
    const { store, disk } = await openOnFailingDisk()
    disk.fails = (step) => step === 'datasync'
    const asks = { found: { collection: 'checks', id: idOf('chk', 3) } } as const
    const results = await Promise.allSettled([
      save(store, put('checks', check(3))),
      store.get('checks', idOf('chk', 3)),
      store.transact(asks, ({ found }) => ({ found, writes: [] })),
      store.transact(asks, () => {
        throw new Error('decided upon what never was')
      }),
    ])
    expect(results).toMatchObject(results.map(() => unavailable))
  })
})

describe.each([
  ['the first byte is refused', 0],
  ['some bytes get through', 137],
])('a disk that is full: %s', (_, bytesBeforeFailure) => {
  it.each([['write'], ['datasync']] as const)(
    'leaves memory and disk unchanged when %s fails, and continues when there is space',
    async (failing) => {
      const { store, disk, directory } = await openOnFailingDisk()
      disk.bytesBeforeFailure = bytesBeforeFailure
      disk.fails = (step) => step === failing
      const results = await Promise.allSettled([
        save(store, put('checks', check(2, { paid_cents: 7 }))),
        saveChecks(store, 3),
      ])
      expect(results).toMatchObject([unavailable, unavailable])
      expect(await storedChecks(store)).toEqual([1, 2])
      expect(await store.get('checks', idOf('chk', 2))).toEqual(check(2))

      disk.fails = () => false
      await saveChecks(store, 4)
      expect(await storedChecks(store)).toEqual([1, 2, 4])
      expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([1, 2, 4])
    },
  )

  it('acknowledges nothing while the file cannot be truncated either', async () => {
    const { store, disk, directory } = await openOnFailingDisk()
    disk.bytesBeforeFailure = bytesBeforeFailure
    disk.fails = (step) => step === 'write' || step === 'truncate'
    await expect(saveChecks(store, 3)).rejects.toMatchObject(unavailable.reason)
    disk.fails = (step) => step === 'truncate'
    await expect(saveChecks(store, 3)).rejects.toMatchObject(unavailable.reason)
    disk.fails = () => false
    await saveChecks(store, 4)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([1, 2, 4])
  })
})

describe('a batch that fails', () => {
  it('also fails the transactions that depend on it', async () => {
    const { store, disk } = await openOnFailingDisk()
    const asks = { found: { collection: 'checks', id: idOf('chk', 1) } } as const
    const later: Promise<unknown>[] = []
    const increment = () =>
      store.transact(asks, ({ found }) => ({
        writes: [put('checks', check(1, { paid_cents: (found?.paid_cents ?? 0) + 1 }))],
      }))
    disk.fails = (step) => {
      if (step === 'write') later.push(increment())
      return step === 'write'
    }
    await Promise.allSettled([increment()])
    disk.fails = () => false
    const results = await Promise.allSettled(later)
    expect(results.length).toBeGreaterThan(0)
    expect(results).toMatchObject(results.map(() => unavailable))
    expect((await store.get('checks', idOf('chk', 1)))?.paid_cents).toBe(0)
    await increment()
    expect((await store.get('checks', idOf('chk', 1)))?.paid_cents).toBe(1)
  })

  it('takes no number, so that no line after a snapshot is skipped', async () => {
    const { store, disk, directory } = await openOnFailingDisk()
    disk.fails = (step) => step === 'write'
    await expect(saveChecks(store, 3)).rejects.toMatchObject(unavailable.reason)
    disk.fails = () => false
    await store.replace((all) => all)
    await saveChecks(store, 4)
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([1, 2, 4])
  })

  it('is refused with a message without paths of this machine', async () => {
    const { store, disk, directory } = await openOnFailingDisk()
    disk.fails = (step) => step === 'write'
    const message = await saveChecks(store, 3).catch((error: unknown) => String(error))
    expect(message).toContain('the disk is full (ENOSPC)')
    expect(message).not.toContain(directory)
  })
})
