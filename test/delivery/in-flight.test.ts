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
  /** Endpoints of the deliveries that may start now, by turn. */
  const choose = (due: string, most = 99) =>
    inFlight
      .choose(
        due.split('').map((endpoint_id) => ({ endpoint_id })),
        most,
      )
      .map(({ endpoint_id }) => endpoint_id)
      .join('')
  return { ...inFlight, inFlight, start, end, choose, onCapacity }
}

describe('attempts in flight', () => {
  it('count towards the limit until they are slow, and always towards their endpoint', () => {
    const { start, choose, onCapacity } = open()
    start('a', 3)
    expect(choose('bbbbbb')).toBe('bbbbb')
    expect(choose('aaaaaa')).toBe('aaa')
    vi.advanceTimersByTime(SLOW_MS)
    expect(choose('bbbbbbccc')).toHaveLength(8)
    expect(choose('aaaaaa')).toBe('aaa')
    expect(onCapacity).toHaveBeenCalledTimes(3)
  })

  it('of endpoints with a slow attempt share half of the limit', () => {
    const { start, end, withoutCapacity, choose } = open()
    const slow = [...start('a'), ...start('b')]
    vi.advanceTimersByTime(SLOW_MS)
    expect(choose('aacbbbc')).toBe('acbacb')
    const quick = [...start('a', 2), ...start('b', 2)]
    expect(['a', 'b', 'c'].map(withoutCapacity())).toEqual([true, true, false])
    expect(choose('aacbbbc')).toBe('cc')
    end(quick.slice(0, 1))
    expect(['a', 'b', 'c'].map(withoutCapacity())).toEqual([false, false, false])
    expect(choose('aacbbbc')).toBe('acc')
    end(slow)
    expect(choose('aacbbbc')).toBe('bacba')
  })

  it('stay within the limit of one endpoint', () => {
    const { start, end, withoutCapacity } = open()
    const ids = start('a', 6)
    expect(withoutCapacity()('a')).toBe(true)
    vi.advanceTimersByTime(SLOW_MS)
    expect(withoutCapacity()('a')).toBe(true)
    end(ids.slice(0, 1))
    expect(withoutCapacity()('a')).toBe(false)
  })

  it('of quick endpoints take nothing from the half of the slow ones', () => {
    const { start, withoutCapacity } = open()
    start('a')
    vi.advanceTimersByTime(SLOW_MS)
    start('b', 4)
    expect(withoutCapacity()('a')).toBe(false)
  })

  it('do not count after they failed without being sent', async () => {
    const { inFlight, withoutCapacity, ended } = open()
    for (const id of ['1', '2', '3', '4', '5', '6'])
      inFlight.start(id, 'a', () => Promise.reject(new Error('aborted'))).catch(() => {})
    expect(withoutCapacity()('a')).toBe(true)
    await ended()
    expect(withoutCapacity()('a')).toBe(false)
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

describe('the fair queue', () => {
  it('takes one delivery of each endpoint per round', () => {
    expect(open().choose('aaabcc')).toBe('abcaca')
  })

  it('prefers the endpoint served longest ago when capacity is scarce', () => {
    const { choose } = open()
    expect([1, 2, 3, 4].map(() => choose('aabc', 1))).toEqual(['a', 'b', 'c', 'a'])
  })

  it('knows whose turn it is also after a thousand other endpoints', () => {
    const { choose } = open()
    for (let code = 0x4e00; code < 0x4e00 + 1_000; code++) choose(String.fromCharCode(code), 1)
    expect([choose('a', 1), choose('ab', 1)]).toEqual(['a', 'b'])
  })

  it('leaves out deliveries above the limit of an endpoint', () => {
    const { start, choose } = open()
    start('a', 5)
    expect(choose('aab')).toBe('ab')
  })

  it('limits slow endpoints after the round robin, not before', () => {
    const { start, choose } = open()
    start('a')
    start('b')
    vi.advanceTimersByTime(SLOW_MS)
    start('a', 2)
    expect([1, 2, 3].map(() => choose('aaabbb'))).toEqual(['ab', 'ab', 'ab'])
    start('a')
    expect([1, 2].map(() => choose('aaabbb'))).toEqual(['a', 'b'])
  })

  it.each([0, -3])('takes no delivery with a capacity of %i', (capacity) => {
    expect(open().choose('a', capacity)).toBe('')
  })
})
