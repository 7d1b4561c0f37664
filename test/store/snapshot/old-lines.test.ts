import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import { put, remove, type Write } from '../../../src/model/records.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { openOldLines } from '../../../src/store/snapshot/text.ts'
import { readChecksummed } from '../../../src/store/snapshot/parse.ts'
import type { Store } from '../../../src/store/store.ts'
import { isSoak } from '../../soak/seeded.ts'
import { copyOf, newDirectory, openStore, tidyUp } from '../folder.ts'
import { check, delivery, event, idOf, save, saveChecks, storedChecks } from '../records.ts'

tidyUp()

const number = fc.integer({ min: 1, max: 4 })
const write: fc.Arbitrary<Write> = fc.oneof(
  fc
    .tuple(number, fc.string({ unit: 'binary' }))
    .map(([n, text]) => put('checks', check(n, { table: { number: text } }))),
  number.map((n) => put('events', event(n))),
  fc.tuple(number, number).map(([n, to]) => put('deliveries', delivery(n, { event_id: idOf('evt', to) }))),
  fc
    .tuple(fc.constantFrom('checks' as const, 'events' as const, 'deliveries' as const), number)
    .map(([name, n]) => remove(name, idOf({ checks: 'chk', events: 'evt', deliveries: 'dlv' }[name], n))),
)
/** Deliveries of one event, created together; `touch` then changes one of them. */
const fanOut = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 2, max: 4 }))
  .map(([n, size]) => Array.from({ length: size }, (_, index) => put('deliveries', ofFanOut(n, index))))
const touch = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 }), fc.boolean())
  .map(([n, index, ends]) => {
    const found = ofFanOut(n, index)
    if (ends) return remove('deliveries', found.id)
    return put('deliveries', { ...found, status: 'delivered', next_attempt_at: null })
  })
const transaction = fc
  .array(
    fc.oneof(
      fc.oneof(write, touch).map((one) => [one]),
      fanOut,
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.flat())
const session = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: 12 }),
  killed: fc.boolean(),
})

describe('a snapshot built from the previous one', () => {
  it('equals memory after any changes between compactions and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(session, { minLength: 2, maxLength: 4 }), async (sessions) => {
        let directory = await newDirectory()
        const wanted = createMemoryStore()
        for (const { transactions, killed } of sessions) {
          // A compaction would go on while the directory is copied.
          const store = await openStore(directory, { compactAtBytes: killed ? Infinity : 300 })
          for (const writes of transactions) {
            await save(wanted, ...writes)
            await save(store, ...writes)
          }
          if (killed) directory = await copyOf(directory)
          await store.close()
        }
        const store = await openStore(directory)
        expect(await store.everything()).toEqual(await wanted.everything())
        await store.close()
      }),
      { numRuns: isSoak ? 30 : 10 },
    )
  })

  it.each<[string, (text: string) => string]>([
    ['edited', (text) => text.replace('POS-2', 'POS-X')],
    ['cut off', (text) => text.slice(0, text.length / 2)],
    ['edited behind all its records', (text) => text.replace('"payments": [', '"payments":  [')],
    ['put into another layout', (text) => JSON.stringify(JSON.parse(text))],
    ['emptied', () => ''],
  ])('reuses nothing of one that was %s meanwhile', async (_, change) => {
    const directory = await newDirectory()
    await saveAndClose(await openStore(directory), 1, 2, 3)
    const path = join(directory, 'db.json')
    const store = await openStore(directory)
    await writeFile(path, change(await readFile(path, 'utf8')))
    await saveAndClose(store, 4)
    const found = await openStore(directory)
    expect(await storedChecks(found)).toEqual([1, 2, 3, 4])
    expect(await found.find('checks', 'external', 'loc_1/POS-2')).toEqual([check(2)])
  })

  it('keeps the old lines unchanged', async () => {
    const directory = await newDirectory()
    await saveAndClose(await openStore(directory), 1, 2, 3)
    const path = join(directory, 'db.json')
    const { checksummed } = (await readChecksummed({ path, shown: 'db.json' })) ?? {}
    const old = await openOldLines(path, checksummed ?? { size: 0, crc: 0 })
    expect(old.find(idOf('chk', 2))).toBeUndefined()
    await old.more()
    expect(old.find(idOf('chk', 2))?.toString()).toBe(JSON.stringify(check(2)))
    expect(old.find(idOf('chk', 3))?.toString()).toBe(JSON.stringify(check(3)))
    await expect(old.check()).resolves.toBeUndefined()
    await expect(old.more()).rejects.toThrow('not as it was written')
    await old.close()
  })
})

function ofFanOut(n: number, index: number): Delivery {
  return delivery(10 * n + index, { event_id: idOf('evt', n), endpoint_id: `we_${index}` })
}

async function saveAndClose(store: Store, ...numbers: readonly number[]): Promise<void> {
  await saveChecks(store, ...numbers)
  await store.close()
}
