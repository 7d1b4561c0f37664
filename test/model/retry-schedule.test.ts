import { describe, expect, it } from 'vitest'
import { mostAttempts, retryInMs, retryScheduleMs } from '../../src/model/retry-schedule.ts'

describe('the retry schedule', () => {
  it('waits 1 m, 5 m, 30 m, 2 h, 8 h and 24 h, and then no more', () => {
    const minutes = [1, 2, 3, 4, 5, 6].map((made) => (retryInMs(made, 'check.updated') ?? 0) / 60_000)
    expect(minutes).toEqual([1, 5, 30, 120, 480, 1440])
    expect(retryInMs(7, 'check.updated')).toBeNull()
  })

  it('spans about 35 hours', () => {
    const hours = retryScheduleMs.reduce((sum, wait) => sum + wait, 0) / 3_600_000
    expect(hours).toBeCloseTo(34.6, 1)
  })

  it('never retries a ping', () => {
    expect(retryInMs(1, 'ping')).toBeNull()
  })
})

it.each([
  ['check.created', 7],
  ['ping', 1],
] as const)('%s has %i attempts at most', (eventType, most) => {
  expect(mostAttempts(eventType)).toBe(most)
  expect(retryInMs(most, eventType)).toBeNull()
})
