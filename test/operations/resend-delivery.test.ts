import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/model/delivery.ts'
import type { StoredEvent } from '../../src/model/event.ts'
import { put } from '../../src/model/records.ts'
import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'
import { resendDelivery } from '../../src/operations/resend-delivery.ts'
import { noon } from './push-fixtures.ts'

const event: StoredEvent = {
  id: 'evt_1',
  type: 'check.created',
  created_at: '2026-11-20T12:00:00.000Z',
  external_check_id: 'dinner',
  body: '{"id":"evt_1"}',
}
const endpoint: WebhookEndpoint = {
  id: 'we_1',
  location_id: 'loc_1',
  url: 'https://localhost/',
  event_types: ['check.closed'],
  status: 'enabled',
  disabled_at: null,
  disabled_reason: null,
  created_at: '2026-11-20T11:00:00.000Z',
  signing_secret: 'whsec_x',
  consecutive_failures: 3,
}
const attempt: Attempt = {
  number: 1,
  started_at: '2026-11-20T12:00:00.000Z',
  duration_ms: 7,
  outcome: 'bad_status',
  response_status: 500,
  response_body: '',
  error: 'no',
  signed_at: 1_795_000_000,
}
const earlier = { id: 'dlv_1', event_id: 'evt_1', endpoint_id: 'we_1', attempts: [attempt] }
const command = { delivery: earlier, fresh: true }
const context = { now: noon, newId: (prefix: string) => `${prefix}_new`, newSecret: () => '', generation: 0 }

describe('resending a delivery', () => {
  test('creates a delivery of the same event to the same endpoint, due at once, and no event', () => {
    const { reply, writes, events } = resendDelivery.decide({ event, endpoint }, command, context)
    expect(reply).toEqual({
      id: 'dlv_new',
      event_id: 'evt_1',
      event_type: 'check.created',
      endpoint_id: 'we_1',
      external_check_id: 'dinner',
      status: 'pending',
      attempts: [],
      next_attempt_at: noon.toISOString(),
      dead_reason: null,
    })
    expect(writes).toEqual([put('deliveries', reply)])
    expect(events).toEqual([])
  })

  test('verbatim repeats the signature of the first attempt', () => {
    const attempts = [attempt, { ...attempt, number: 2, signed_at: 1_795_000_060 }]
    const verbatim = { delivery: { ...earlier, attempts }, fresh: false }
    expect(resendDelivery.decide({ event, endpoint }, verbatim, context).reply).toMatchObject({
      attempts: [],
      signed_at: 1_795_000_000,
    })
  })

  const { signed_at: _unknown, ...old } = attempt
  test.each([
    ['has not been attempted yet', []],
    ['was first attempted by an older version', [old, { ...attempt, number: 2 }]],
  ])('verbatim is refused when the delivery %s', (message, attempts) => {
    const verbatim = { delivery: { ...earlier, attempts }, fresh: false }
    expect(() => resendDelivery.decide({ event, endpoint }, verbatim, context)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        message: expect.stringContaining(message) as string,
      }),
    )
  })

  test.each([
    [
      'a disabled endpoint',
      { event, endpoint: { ...endpoint, status: 'disabled' as const } },
      'endpoint_disabled',
    ],
    ['an endpoint that is gone', { event, endpoint: undefined }, 'not_found'],
    ['an event that is gone', { event: undefined, endpoint }, 'not_found'],
  ])('is refused for %s', (_what, records, code) => {
    expect(() => resendDelivery.decide(records, command, context)).toThrow(expect.objectContaining({ code }))
  })
})
