import stringWidth from 'fast-string-width'
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
  test('with waits that match the retry schedule', () => {
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

  test('with the trace header of each attempt that has one', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-53995c3f42cd8ad8-01'
    const delivery = { ...pending, attempts: [attempt, { ...attempt, number: 2, traceparent }] }
    expect(renderDelivery(delivery, undefined).split('\n')).toContain(`attempt 2: traceparent ${traceparent}`)
  })

  test('without a next attempt, when the delivery is delivered or dead', () => {
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

  test('of a ping, which has one attempt', () => {
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

describe('deliveries show prints the response headers', () => {
  const headersOf = (delivery: Delivery, columns?: number) =>
    renderDelivery(delivery, undefined, columns).split(/\n(?=attempt \d+: response headers)/)[1]
  const response_headers = [
    { name: 'Retry-After', value: '30' },
    { name: 'Set-Cookie', value: 'a=1' },
    { name: 'Set-Cookie', value: 'b=2' },
  ]
  const answered: Attempt = { ...attempt, number: 2, response_headers }
  const unanswered: Attempt = { ...attempt, number: 3, outcome: 'timeout', response_status: null }

  test('of the latest response', () => {
    const earlier = { ...attempt, response_headers: [{ name: 'X-Earlier', value: '1' }] }
    expect(headersOf({ ...pending, attempts: [earlier, answered, unanswered] })).toBe(
      'attempt 2: response headers\n  Retry-After: 30\n  Set-Cookie: a=1\n  Set-Cookie: b=2',
    )
    expect(headersOf({ ...pending, attempts: [{ ...answered, response_headers: [] }] })).toBe(
      'attempt 2: response headers\n  none',
    )
    expect(headersOf({ ...pending, attempts: [attempt, unanswered] })).toBeUndefined()
  })

  test('and says when they are cut', () => {
    const cut = { ...answered, response_headers_cut: true as const }
    expect(
      headersOf({ ...pending, attempts: [cut] })
        ?.split('\n')
        .at(-1),
    ).toBe('  (cut: only the first 100 headers and 4 KiB are stored)')
  })

  test('without characters that control the terminal', () => {
    const hostile = [{ name: 'X-Name', value: '\u001b[2J\u009b1A\tcaf\u00e9' }]
    expect(headersOf({ ...pending, attempts: [{ ...answered, response_headers: hostile }] })).toBe(
      'attempt 2: response headers\n  X-Name: ␛[2J<U+009B>1A␉caf\u00e9',
    )
  })

  test.each([60, 80, 120])('within %i columns', (columns) => {
    const long = [...response_headers, { name: `X-${'n'.repeat(70)}`, value: 'v'.repeat(4_000) }]
    const attempts = [{ ...answered, response_headers: long, response_headers_cut: true as const }]
    const lines = renderDelivery({ ...pending, attempts }, undefined, columns).split('\n')
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([])
    expect(lines.join('').match(/v/g)?.length).toBeGreaterThan(300)
    expect(lines.at(-1)).toContain('4 KiB are stored)')
  })
})
