import { describe, expect, it } from 'vitest'
import { createActivityCounter } from '../../../src/model/simulator/activity.ts'
import type { Attempt, Delivery } from '../../../src/model/delivery.ts'

const attempt = (
  number: number,
  started_at: string,
  outcome: Attempt['outcome'],
  duration_ms = 10,
): Attempt => ({
  number,
  started_at,
  duration_ms,
  outcome,
  response_status: outcome === 'succeeded' ? 200 : null,
  response_body: null,
  error: null,
})

function delivery(status: Delivery['status'], ...attempts: Attempt[]): Delivery {
  const about = {
    id: 'dlv_1',
    event_id: 'evt_1',
    event_type: 'ping',
    endpoint_id: 'we_1',
    external_check_id: null,
  } as const
  return { ...about, status, attempts, next_attempt_at: null, dead_reason: null }
}

function activityOf(deliveries: readonly Delivery[]) {
  const counter = createActivityCounter()
  counter.add(deliveries)
  return counter.result()
}

describe('activity', () => {
  it('without deliveries is empty', () => {
    expect(activityOf([])).toEqual({
      deliveries: 0,
      median_ms: null,
      p95_ms: null,
      bucket_ms: 1_000,
      buckets: [],
    })
    expect(activityOf([delivery('pending')])).toMatchObject({ deliveries: 1, buckets: [] })
  })

  it('is counted without gaps, by the attempt and not by the delivery', () => {
    const deliveries = [
      delivery('delivered', attempt(1, '2026-01-01T00:00:00.200Z', 'succeeded', 30)),
      delivery(
        'dead',
        attempt(1, '2026-01-01T00:00:00.900Z', 'timeout'),
        attempt(2, '2026-01-01T00:00:02.000Z', 'timeout'),
      ),
    ]
    const none = { succeeded: 0, failed: 0, dead: 0, median_ms: null, p95_ms: null }
    expect(activityOf(deliveries).buckets).toEqual([
      { ...none, at: '2026-01-01T00:00:00.000Z', succeeded: 1, failed: 1, median_ms: 30, p95_ms: 30 },
      { ...none, at: '2026-01-01T00:00:01.000Z' },
      { ...none, at: '2026-01-01T00:00:02.000Z', dead: 1 },
    ])
  })

  it('covers 35 hours of retries in common time steps', () => {
    const spread = delivery(
      'delivered',
      attempt(1, '2026-01-01T00:00:00.000Z', 'timeout'),
      attempt(2, '2026-01-02T11:00:00.000Z', 'succeeded'),
    )
    const { bucket_ms, buckets } = activityOf([spread])
    expect(bucket_ms).toBe(3_600_000)
    expect(buckets).toHaveLength(36)
  })

  it.each([2, 20, 7_000])('counts all attempts when the clock moved %i years between them', (years) => {
    const spread = delivery(
      'delivered',
      attempt(1, '2026-01-01T00:00:00.000Z', 'timeout'),
      attempt(2, `${2026 + years}-01-01T00:00:00.000Z`, 'succeeded'),
    )
    const { buckets } = activityOf([spread])
    expect(buckets.length).toBeLessThanOrEqual(60)
    expect([buckets.at(0)?.failed, buckets.at(-1)?.succeeded]).toEqual([1, 1])
  })

  it('has the median and the 95th percentile of response times', () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      delivery('delivered', attempt(1, '2026-01-01T00:00:00.000Z', 'succeeded', 100 - index)),
    )
    const times = { median_ms: 50, p95_ms: 95 }
    expect(activityOf(many)).toMatchObject({ ...times, buckets: [{ succeeded: 100, ...times }] })
  })
})
