import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { LoggedRequest } from '../../../src/model/simulator/request-entry.ts'
import { timelineOf } from '../../../src/pages/browser/inspector/detail/timeline-points.ts'

describe('the timeline of a check', () => {
  it('sorts a push, its events, their attempts and the next attempt, causes before effects', () => {
    const at = '2026-01-01T00:00:00.000Z'
    const delivery = {
      id: 'dlv_1',
      attempts: [{ number: 1, started_at: at }],
      next_attempt_at: '2026-01-01T00:01:00.000Z',
    } as unknown as Delivery
    const points = timelineOf({
      deliveries: [delivery],
      events: [{ id: 'evt_1', type: 'check.created', created_at: at }],
      requests: [{ id: 'req_1', started_at: at } as LoggedRequest],
    })
    expect(points.map(({ kind }) => kind)).toEqual(['push', 'event', 'attempt', 'next'])
  })
})
