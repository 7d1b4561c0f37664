import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import { put } from '../../src/model/records.ts'
import { openFileStore } from '../../src/store/file-store.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { delivery, event, idOf, save } from './records.ts'

const KEEP = 10
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tabwire-history-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe.each([
  { name: 'the memory store', open: async () => createMemoryStore({ keepEvents: KEEP }) },
  { name: 'the file store', open: () => openFileStore({ directory, keepEvents: KEEP }) },
])('the retention of $name', ({ open }) => {
  it('keeps the newest events and their deliveries', async () => {
    const store = await open()
    for (let n = 1; n <= 25; n++) await happen(store, n, 'delivered')
    expect(await kept(store)).toEqual({ events: range(16, 25), deliveries: range(16, 25) })
    await store.close()
  })

  it('keeps pending deliveries of any age until they are finished', async () => {
    const store = await open()
    await happen(store, 1, 'pending')
    await happen(store, 2, 'pending')
    for (let n = 3; n <= 32; n++) await happen(store, n, 'dead')
    expect((await kept(store)).events).toEqual([1, 2, ...range(25, 32)])
    await save(store, put('deliveries', finished(1, 'delivered')), put('deliveries', finished(2, 'dead')))
    // About as many transactions as there are events: then the walk over them has begun again.
    for (let n = 33; n <= 45; n++) await happen(store, n, 'delivered')
    expect(await kept(store)).toEqual({ events: range(36, 45), deliveries: range(36, 45) })
    await store.close()
  })

  it('removes finished events behind more pending ones than it keeps', async () => {
    const store = await open()
    for (let n = 1; n <= KEEP + 1; n++) await happen(store, n, 'pending')
    for (let n = KEEP + 2; n <= 60; n++) await happen(store, n, 'delivered')
    const { events } = await kept(store)
    expect(events.slice(0, KEEP + 1)).toEqual(range(1, KEEP + 1))
    // Its pending events alone are more than it keeps.
    expect(events.length).toBeLessThanOrEqual(KEEP + 4)
    await store.close()
  })

  it('loses nothing when all deliveries are pending', async () => {
    const store = await open()
    for (let n = 1; n <= 25; n++) await happen(store, n, 'pending')
    expect((await kept(store)).events).toEqual(range(1, 25))
    await store.close()
  })
})

describe('the retention of long events', () => {
  const body = JSON.stringify('x'.repeat(8 * 1024 * 1024 - 2))
  const long = (store: Store, n: number, status: Delivery['status'] = 'delivered') =>
    save(store, put('events', { ...event(n), body }), put('deliveries', finished(n, status)))

  it('keeps the newest 128 MiB', async () => {
    const store = createMemoryStore()
    for (let n = 1; n <= 20; n++) await long(store, n)
    expect(await kept(store)).toEqual({ events: range(5, 20), deliveries: range(5, 20) })
  })

  it('keeps pending deliveries beyond them', async () => {
    const store = createMemoryStore()
    await long(store, 1, 'pending')
    for (let n = 2; n <= 20; n++) await long(store, n)
    expect((await kept(store)).events).toEqual([1, ...range(6, 20)])
  })

  it('keeps 8 KiB for each event where more than 16,384 are kept', async () => {
    const store = createMemoryStore({ keepEvents: 20_480 })
    for (let n = 1; n <= 25; n++) await long(store, n)
    expect((await kept(store)).events).toEqual(range(6, 25))
  })

  it('makes room for them among short ones', async () => {
    const store = createMemoryStore()
    for (let n = 1; n <= 60; n++) await happen(store, n, 'delivered')
    for (let n = 61; n <= 80; n++) await long(store, n)
    expect((await kept(store)).events).toEqual(range(65, 80))
  })

  it('goes on after a replacement of the state', async () => {
    const store = createMemoryStore()
    for (let n = 1; n <= 16; n++) await long(store, n)
    await store.replace((all) => ({ ...all, events: [], deliveries: [] }))
    for (let n = 21; n <= 40; n++) await long(store, n)
    expect((await kept(store)).events).toEqual(range(25, 40))
  })
})

it('has the same result on disk as in memory', async () => {
  const store = await openFileStore({ directory, keepEvents: KEEP })
  for (let n = 1; n <= 25; n++) await happen(store, n, 'delivered')
  const before = await kept(store)
  await store.close()
  const again = await openFileStore({ directory, keepEvents: KEEP })
  expect(await kept(again)).toEqual(before)
  await again.close()
})

function happen(store: Store, n: number, status: Delivery['status']) {
  return save(store, put('events', event(n)), put('deliveries', finished(n, status)))
}

function finished(n: number, status: Delivery['status']): Delivery {
  const next_attempt_at = status === 'pending' ? '2026-11-21T18:04:05.123Z' : null
  return { ...delivery(n), event_id: idOf('evt', n), status, next_attempt_at }
}

async function kept(store: Store) {
  const events = await store.list('events', { limit: 100 })
  const deliveries = await store.list('deliveries', { limit: 100 })
  const numbers = (records: readonly { id: string }[]) =>
    range(1, 99).filter((n) => records.some(({ id }) => id.slice(4) === idOf('evt', n).slice(4)))
  return { events: numbers(events.data), deliveries: numbers(deliveries.data) }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
