import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import { createInFlight } from '../../src/delivery/in-flight.ts'
import { fakeOwnTimers } from '../support/fake-timers.ts'

const SLOW_MS = 1_000
beforeEach(() => fakeOwnTimers())

/** Attempts in flight, at most eight in all, with functions that start and end them. */
function open() {
  const onCapacity = vi.fn<() => void>()
  const inFlight = createInFlight({ perEndpoint: 6, inAll: 8, slowAfterMs: SLOW_MS }, { onCapacity })
  const ends = new Map<string, () => void>()
  let number = 0
  const start = (endpointId: string | undefined, count = 1) => {
    const ids = Array.from({ length: count }, () => `dlv_${++number}`)
    for (const id of ids) void inFlight.start(id, endpointId, (onSent) => attempt(id, onSent))
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
  return { ...inFlight, start, end, onCapacity }
}

describe('attempts in flight', () => {
  it('count towards the limit until they are slow, and always towards their endpoint', () => {
    const { start, capacity, countTo, onCapacity } = open()
    start('a', 3)
    expect([capacity(), countTo('a')]).toEqual([5, 3])
    vi.advanceTimersByTime(SLOW_MS)
    expect([capacity(), countTo('a')]).toEqual([8, 3])
    expect(onCapacity).toHaveBeenCalledTimes(3)
  })

  it('of endpoints with a slow attempt share half of the limit', () => {
    const { start, end, fullEndpoints, limitSlow } = open()
    const slow = [...start('a'), ...start('b')]
    vi.advanceTimersByTime(SLOW_MS)
    const all = 'aacbbbc'.split('').map((endpoint_id) => ({ endpoint_id }))
    const within = () =>
      limitSlow(all)
        .map(({ endpoint_id }) => endpoint_id)
        .join('')
    expect(within()).toBe('aacbbc')
    const quick = [...start('a', 2), ...start('b', 2)]
    expect(['a', 'b', 'c'].map(fullEndpoints().has)).toEqual([true, true, false])
    expect(within()).toBe('cc')
    end(quick.slice(0, 1))
    expect(['a', 'b', 'c'].map(fullEndpoints().has)).toEqual([false, false, false])
    expect(within()).toBe('acc')
    end(slow)
    expect(within()).toBe('aacbbbc')
  })

  it('stay within the limit of one endpoint', () => {
    const { start, end, fullEndpoints } = open()
    const ids = start('a', 6)
    expect(fullEndpoints().has('a')).toBe(true)
    end(ids.slice(0, 1))
    expect(fullEndpoints().has('a')).toBe(false)
  })

  it('are listed until they end', async () => {
    const { start, end, has, get, all, ended } = open()
    const [id = ''] = start(undefined)
    expect([all(), has(id), has('dlv_0')]).toEqual([[[id, undefined]], true, false])
    end([id])
    await expect(get(id)).resolves.toBeUndefined()
    await ended()
    expect([all(), has(id)]).toEqual([[], false])
  })
})
