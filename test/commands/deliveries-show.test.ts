import { describe, expect, test } from 'vitest'
import { renderDelivery, retryWaits } from '../../src/cli/render/delivery.ts'
import { retryScheduleMs } from '../../src/model/retry-schedule.ts'
import type { Attempt, Delivery } from '../../src/model/delivery.ts'

const attempt: Attempt = {
  number: 1,
  started_at: '2026-11-21T12:00:00.000Z',
  duration_ms: 5,
  outcome: 'bad_status',
  response_status: 500,
  response_body: null,
  error: 'The receiver answered 500.',
}
const pending: Delivery = {
  id: 'dlv_1',
  event_id: 'evt_1',
  event_type: 'check.created',
  endpoint_id: 'we_1',
  external_check_id: 'dinner',
  status: 'pending',
  attempts: [],
  next_attempt_at: '2026-11-21T12:01:00.000Z',
  dead_reason: null,
}
const attempts = (made: number) => Array<Attempt>(made).fill(attempt)

function steps(delivery: Delivery): string[] {
  return renderDelivery(delivery, undefined)
    .split('\n')
    .filter((line) => /^(next attempt|if it fails)/.test(line))
}

describe('deliveries show prints the position in the retry schedule', () => {
  test('with the waits of the schedule', () => {
    const unit = { m: 60_000, h: 3_600_000 }
    expect(retryWaits.map((wait) => parseInt(wait) * unit[wait.slice(-1) as 'm' | 'h'])).toEqual(
      retryScheduleMs,
    )
  })

  test.each<[made: number, next: string, then: string]>([
    [0, 'attempt 1 of 7', 'retry after 1m, 5m, 30m, 2h, 8h, 24h; then dead'],
    [1, 'attempt 2 of 7, 1m after the last', 'retry after 5m, 30m, 2h, 8h, 24h; then dead'],
    [5, 'attempt 6 of 7, 8h after the last', 'retry after 24h; then dead'],
    [6, 'attempt 7 of 7, 24h after the last', 'dead'],
  ])('after %i attempts', (made, next, then) => {
    expect(steps({ ...pending, attempts: attempts(made) })).toEqual([
      `next attempt  2026-11-21 12:01:00 UTC, ${next}`,
      `if it fails   ${then}`,
    ])
  })

  test('when it is over', () => {
    const over = { ...pending, next_attempt_at: null }
    expect(steps({ ...over, status: 'delivered', attempts: attempts(2) })).toEqual([
      'next attempt  none, after 2 of 7 attempts',
    ])
    const dead = { ...over, status: 'dead' as const }
    expect(steps({ ...dead, attempts: attempts(7) })).toEqual(['next attempt  none, after 7 of 7 attempts'])
    expect(steps({ ...dead, attempts: attempts(1) })).toEqual([
      'next attempt  none, after 1 of 7 attempts; 6 not made',
    ])
  })

  test('of which a ping has one step', () => {
    const ping = { ...pending, event_type: 'ping' as const }
    expect(steps(ping)).toEqual([
      'next attempt  2026-11-21 12:01:00 UTC, attempt 1 of 1',
      'if it fails   dead',
    ])
    expect(steps({ ...ping, status: 'dead', next_attempt_at: null, attempts: attempts(1) })).toEqual([
      'next attempt  none, after 1 of 1 attempts',
    ])
  })
})

test('deliveries show prints a reason once for attempts that failed alike, and the URL of the endpoint', () => {
  const refused = { ...attempt, error: 'Connection refused.', response_body: null }
  const failed = [attempt, attempt, attempt, refused, refused].map((one, index) => ({
    ...one,
    number: index + 1,
  }))
  const shown = renderDelivery({ ...pending, attempts: failed }, 'https://shop.example/webhooks')
  expect(shown).toContain('\nendpoint      https://shop.example/webhooks  we_1\n')
  expect(shown.split('\n').slice(-2)).toEqual([
    'attempts 1 to 3: The receiver answered 500.',
    'attempts 4 to 5: Connection refused.',
  ])
  expect(renderDelivery(pending, undefined)).toContain('\nendpoint      we_1 (removed)\n')
  const known = { ...pending, endpoint_url: 'https://localhost/hooks' }
  expect(renderDelivery(known, undefined)).toContain('\nendpoint      https://localhost/hooks (removed)\n')
})
