import { expect, test } from 'vitest'
import { renderDeliveries } from '../../../src/cli/render/delivery.ts'
import { delivery } from '../../store/records.ts'

test('a list shows when a delivery without an attempt was created, and its next attempt', () => {
  // The first ten digits are the time: 2026-11-21T18:00:00.000Z.
  const id = 'dlv_01M7ZM7Q800000000000000000'
  const pending = delivery(1, { id, next_attempt_at: '2026-11-21T19:00:00.000Z' })
  const [, row = ''] = renderDeliveries([pending], {}, 200).split('\n')
  expect(row.indexOf('2026-11-21 18:00:00')).toBeGreaterThan(-1)
  expect(row.indexOf('2026-11-21 18:00:00')).toBeLessThan(row.indexOf('2026-11-21 19:00:00'))
})
