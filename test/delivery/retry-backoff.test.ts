import { beforeEach, expect, test, vi } from 'vitest'
import { createRetryBackoff } from '../../src/delivery/retry-backoff.ts'
import { fakeOwnTimers } from '../support/fake-timers.ts'

beforeEach(() => fakeOwnTimers())

/** Why an attempt could not be recorded: nothing that concerns the store. */
const failure = new Error('broken')

const onOver = vi.fn<() => void>()

function open() {
  onOver.mockClear()
  return createRetryBackoff({ backoffMs: 1_000, onOver })
}

/** For how many milliseconds a delivery is left alone whose attempt could not be recorded now. */
function restOf(rests: ReturnType<typeof open>, id: string): number {
  rests.start(id, failure)
  const from = Date.now()
  while (rests.has(id)) vi.advanceTimersToNextTimer()
  return Date.now() - from
}

test('a delivery is left alone for twice as long each time, and for a minute at most', () => {
  const rests = open()
  const pauses = Array.from({ length: 9 }, () => restOf(rests, 'dlv_1'))
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
  expect(onOver).toHaveBeenCalledTimes(9)
})

test('another delivery begins with the shortest pause, and so does one that was recorded meanwhile', () => {
  const rests = open()
  expect([restOf(rests, 'dlv_1'), restOf(rests, 'dlv_1'), restOf(rests, 'dlv_2')]).toEqual([1000, 2000, 1000])
  rests.forget('dlv_1')
  expect(restOf(rests, 'dlv_1')).toBe(1_000)
})

test('a pause that is ended leaves no timer, and does not tell of its end', () => {
  const rests = open()
  rests.start('dlv_1', failure)
  rests.start('dlv_2', failure)
  rests.start('dlv_3', failure)
  expect(rests.count()).toBe(3)
  rests.forget('dlv_1')
  expect([rests.count(), vi.getTimerCount()]).toEqual([2, 2])
  rests.stop()
  expect([rests.count(), vi.getTimerCount()]).toEqual([0, 0])
  expect(onOver).not.toHaveBeenCalled()
})
