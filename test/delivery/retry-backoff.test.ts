import { beforeEach, expect, test, vi } from 'vitest'
import { createRetryBackoff } from '../../src/delivery/pump-timing.ts'
import { fakeOwnTimers } from '../support/fake-timers.ts'

beforeEach(() => fakeOwnTimers())

/** A failure other than one of the store. */
const failure = new Error('broken')

const onOver = vi.fn<() => void>()

function open() {
  onOver.mockClear()
  return createRetryBackoff({ backoffMs: 1_000, onOver })
}

/** Milliseconds of backoff after an attempt that could not be recorded. */
function backoffOf(backoff: ReturnType<typeof open>, id: string): number {
  backoff.start(id, failure)
  const from = Date.now()
  while (backoff.has(id)) vi.advanceTimersToNextTimer()
  return Date.now() - from
}

test('the backoff of a delivery doubles with each failure, up to one minute', () => {
  const backoff = open()
  const pauses = Array.from({ length: 9 }, () => backoffOf(backoff, 'dlv_1'))
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
  expect(onOver).toHaveBeenCalledTimes(9)
})

test('another delivery starts with the shortest backoff, and so does one that was recorded meanwhile', () => {
  const backoff = open()
  expect([backoffOf(backoff, 'dlv_1'), backoffOf(backoff, 'dlv_1'), backoffOf(backoff, 'dlv_2')]).toEqual([
    1000, 2000, 1000,
  ])
  backoff.recorded('dlv_1')
  expect(backoffOf(backoff, 'dlv_1')).toBe(1_000)
})

test('a backoff that is removed leaves no timer and does not call onOver', () => {
  const backoff = open()
  backoff.start('dlv_1', failure)
  backoff.start('dlv_2', failure)
  backoff.start('dlv_3', failure)
  expect(backoff.count()).toBe(3)
  backoff.recorded('dlv_1')
  expect([backoff.count(), vi.getTimerCount()]).toEqual([2, 2])
  backoff.clear()
  expect([backoff.count(), vi.getTimerCount()]).toEqual([0, 0])
  expect(onOver).not.toHaveBeenCalled()
})
