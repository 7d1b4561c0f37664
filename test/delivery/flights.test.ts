import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import { createFlights } from '../../src/delivery/flights.ts'

const SLOW_MS = 1_000
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Flights with places for eight in all, and how to start and end them. */
function open() {
  const onRoom = vi.fn<() => void>()
  const flights = createFlights({ perEndpoint: 6, inAll: 8, slowAfterMs: SLOW_MS }, { onRoom })
  const ends = new Map<string, () => void>()
  let number = 0
  const start = (endpointId: string | undefined, count = 1) => {
    const ids = Array.from({ length: count }, () => `dlv_${++number}`)
    for (const id of ids) void flights.start(id, endpointId, (onSent) => attempt(id, onSent))
    return ids
  }
  const attempt = (id: string, onSent: () => void) =>
    new Promise<Delivery | undefined>((resolve) =>
      ends.set(id, () => {
        onSent()
        resolve(undefined)
      }),
    )
  const end = (ids: readonly string[]) => {
    for (const id of ids) ends.get(id)?.()
  }
  return { ...flights, start, end, onRoom }
}

const due = (endpoint_id: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${endpoint_id}_${index}`, endpoint_id }))

describe('attempts in flight', () => {
  it('take places until they turn out to be slow, and are counted for their endpoint all the same', () => {
    const { start, room, to, onRoom } = open()
    start('a', 3)
    expect([room(), to('a')]).toEqual([5, 3])
    vi.advanceTimersByTime(SLOW_MS)
    expect([room(), to('a')]).toEqual([8, 3])
    expect(onRoom).toHaveBeenCalledTimes(3)
  })

  it('of endpoints with a slow one have half the places, in all', () => {
    const { start, end, full, startable } = open()
    const slow = [...start('a'), ...start('b')]
    vi.advanceTimersByTime(SLOW_MS)
    const all = [...due('a', 2), ...due('c', 1), ...due('b', 3), ...due('c', 1)]
    expect(
      startable(all)
        .map(({ endpoint_id }) => endpoint_id)
        .join(''),
    ).toBe('aacbbc')
    const quick = [...start('a', 2), ...start('b', 2)]
    expect(['a', 'b', 'c'].map(full().has)).toEqual([true, true, false])
    expect(
      startable(all)
        .map(({ endpoint_id }) => endpoint_id)
        .join(''),
    ).toBe('cc')
    end(quick.slice(0, 1))
    expect(['a', 'b', 'c'].map(full().has)).toEqual([false, false, false])
    expect(
      startable(all)
        .map(({ endpoint_id }) => endpoint_id)
        .join(''),
    ).toBe('acc')
    end(slow)
    expect(startable(all)).toEqual(all)
  })

  it('are no more to one endpoint than may be', () => {
    const { start, end, full } = open()
    const ids = start('a', 6)
    expect(full().has('a')).toBe(true)
    end(ids.slice(0, 1))
    expect(full().has('a')).toBe(false)
  })

  it('are not started twice', async () => {
    const { start, end, startable, has, none, ended } = open()
    const ids = start(undefined)
    const [again] = ids.map((id) => ({ id, endpoint_id: 'a' }))
    expect(startable([...(again ? [again] : []), ...due('a', 1)])).toEqual(due('a', 1))
    end(ids)
    await ended()
    expect([none(), ...ids.map(has)]).toEqual([true, false])
  })
})
