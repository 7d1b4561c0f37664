import { describe, expect, it } from 'vitest'
import { countdownText, elapsedText, timeText } from '../../../src/pages/browser/inspector/clock.tsx'

describe('texts of times', () => {
  it.each([
    [-5, 'now'],
    [999, 'now'],
    [61_000, '1:01'],
    [3_600_000, '1 h 0 min'],
    [90_000_000, '1 d 1 h'],
  ])('a countdown of %i ms reads %s', (ms, text) => {
    expect(countdownText(ms)).toBe(text)
  })

  it('a time on another day includes the day', () => {
    const now = Date.parse('2026-01-02T08:00:00Z')
    expect(timeText('2026-01-02T07:08:09.100Z', now)).toBe('07:08:09')
    expect(timeText('2026-01-01T07:08:09.100Z', now)).toBe('01-01 07:08:09')
  })

  it('a duration is rounded to a readable precision', () => {
    expect([0.04, 0.46, 12.4, 999, 1_250].map(elapsedText)).toEqual([
      '0 ms',
      '0.5 ms',
      '12 ms',
      '999 ms',
      '1.3 s',
    ])
  })
})
