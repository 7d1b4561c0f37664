import { expect, it } from 'vitest'
import { timeTexts } from '../../../src/pages/browser/inspector/chart/ticks.ts'

const seconds = (iso: string) => Date.parse(iso) / 1_000

it('ticks of the chart have a time in UTC, and the date at the beginning of a day', () => {
  const ticks = ['2026-11-21T22:00:00Z', '2026-11-21T23:00:00Z', '2026-11-22T00:00:00Z'].map(seconds)
  expect(timeTexts(ticks, 3_600)).toEqual(['22:00\n11-21', '23:00', '00:00\n11-22'])
  expect(timeTexts(ticks.slice(0, 1), 5)).toEqual(['22:00:00\n11-21'])
  expect(timeTexts(ticks.slice(1), 86_400)).toEqual(['11-21', '11-22'])
})
