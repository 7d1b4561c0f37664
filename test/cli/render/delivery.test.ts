import { expect, test } from 'vitest'
import { renderDeliveries } from '../../../src/cli/render/delivery.ts'
import type { Delivery } from '../../../src/model/delivery.ts'

test('a list shows when a delivery without an attempt was created, and its next attempt', () => {
  const delivery: Delivery = {
    // The first ten digits are the time: 2026-11-21T18:00:00.000Z.
    id: 'dlv_01M7ZM7Q800000000000000000',
    event_id: 'evt_1',
    event_type: 'check.created',
    endpoint_id: 'we_1',
    external_check_id: 'a',
    status: 'pending',
    attempts: [],
    next_attempt_at: '2026-11-21T19:00:00.000Z',
    dead_reason: null,
  }
  const [, row = ''] = renderDeliveries([delivery], {}, 200).split('\n')
  expect(row.indexOf('2026-11-21 18:00:00')).toBeGreaterThan(-1)
  expect(row.indexOf('2026-11-21 18:00:00')).toBeLessThan(row.indexOf('2026-11-21 19:00:00'))
})
