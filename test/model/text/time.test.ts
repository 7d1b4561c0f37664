import { describe, expect, test } from 'vitest'
import { durationMs, durationPattern, localTimeIssue, parseTime } from '../../../src/model/text/time.ts'

describe('an ISO 8601 time', () => {
  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T18:04Z', '2026-11-21T18:04:00.000Z'],
    ['2026-11-21T18:04:05Z', '2026-11-21T18:04:05.000Z'],
    ['2026-11-21T18:04:05.123456789Z', '2026-11-21T18:04:05.123Z'],
    ['2026-11-21T18:04:05+01:30', '2026-11-21T16:34:05.000Z'],
    ['2026-11-21T18:04:05-0500', '2026-11-21T23:04:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('is read: %s', (text, expected) => {
    expect(parseTime(text)?.toISOString()).toBe(expected)
  })

  test.each([
    '',
    '1.5',
    '5',
    '-5',
    '12/25/2020',
    '2026',
    '2026-11',
    '2026-11-21T',
    '2026-11-21T18Z',
    '2026-11-21T18:04:05',
    '2026-11-21 18:04:05Z',
    '2026-11-21T18:04:05 Z',
    '2026-11-21T18:04:05+25:00',
    '2026-11-21T25:00:00Z',
    '2026-02-30',
    '2026-02-29T00:00:00Z',
    '2026-13-01',
    '12026-01-01',
    '21 Nov 2026',
  ])('is not any other text: %j', (text) => {
    expect(parseTime(text)).toBeUndefined()
  })

  test.each([
    ['2026-11-21T18:04:05', '2026-11-21T18:04:05Z'],
    ['2026-11-21 18:04', '2026-11-21T18:04Z'],
  ])('of a day without Z or an offset is refused with an example: %s', (text, example) => {
    expect(localTimeIssue(text)).toBe(
      `must end with Z or an offset such as +01:00, because local times depend on the machine, got "${text}". Example: ${example}`,
    )
  })

  test.each(['2026-11-21', '2026-11-21T18:04:05Z', '2026-02-30T00:00', 'noon'])(
    'has no issue with its zone: %s',
    (text) => {
      expect(localTimeIssue(text)).toBeUndefined()
    },
  )
})

describe('the pattern of durations', () => {
  test.each(['36h', '1h30m', '1d2h3m4s5ms', '5ms', '5m', '1m5ms'])('matches what is parsed: %s', (text) => {
    expect(new RegExp(durationPattern, 'u').test(text)).toBe(true)
    expect(durationMs(text)).toBeGreaterThan(0)
  })

  test.each(['soon', '1', '1.5h', '-1h', '1s1h', '1h1h', '1 h', '1234567890123s'])(
    'matches no other text: %j',
    (text) => {
      expect(new RegExp(durationPattern, 'u').test(text)).toBe(false)
      expect(durationMs(text)).toBeUndefined()
    },
  )
})
