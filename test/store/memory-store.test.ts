import { expect, it } from 'vitest'
import { put } from '../../src/model/records.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { check, event, save } from './records.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the memory store', async () => createMemoryStore())

it('keeps past transactions without their checks, and up to 16 MiB of their events', async () => {
  const store = createMemoryStore()
  const large = (number: number) => put('events', { ...event(number), body: 'x'.repeat(2 ** 20) })
  for (let number = 1; number <= 16; number += 1)
    await save(store, put('checks', check(number)), large(number))
  const all = await store.committedAfter(0)
  expect(all?.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1))
  expect(all?.flatMap(({ writes }) => writes.map(({ collection }) => collection))).not.toContain('checks')
  await save(store, large(17))
  expect(await store.committedAfter(0)).toBeUndefined()
  expect(await store.committedAfter(1)).toHaveLength(16)
  await store.close()
})
