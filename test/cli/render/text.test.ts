import { expect, test } from 'vitest'
import { money } from '../../../src/cli/render/text.ts'
import { count } from '../../../src/model/text/count.ts'
import { formatTime } from '../../../src/model/text/time.ts'

test.each([
  [0, '0.00'],
  [5, '0.05'],
  [1350, '13.50'],
  [-5, '-0.05'],
  [-1350, '-13.50'],
  [Number.MAX_SAFE_INTEGER, '90071992547409.91'],
])('%i cents are %s', (cents, text) => {
  expect(money(cents)).toBe(text)
})

test('a count is singular only for 1', () => {
  expect([count(0, 'item'), count(1, 'item'), count(2, 'item')]).toEqual(['0 items', '1 item', '2 items'])
})

test('a time is printed as a date and a time of day, in UTC', () => {
  expect(formatTime('2026-11-21T18:04:05.123Z')).toBe('2026-11-21 18:04:05')
})
