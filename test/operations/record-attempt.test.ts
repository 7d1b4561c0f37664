import { describe, expect, test } from 'vitest'
import type { Attempt, AttemptResult, Delivery } from '../../src/model/delivery.ts'
import { put } from '../../src/model/records.ts'
import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'
import { recordAttempt, type RecordAttempt } from '../../src/operations/record-attempt.ts'
import { webhookEndpoint as endpoint } from './endpoint-fixtures.ts'
import { refusalOf } from './push-fixtures.ts'

const began = '2026-11-21T12:00:00.000Z'
/** When the attempt is recorded: at its end. */
const ended = new Date('2026-11-21T12:00:09.500Z')
const MINUTE = 60_000

function delivery(change: Partial<Delivery> = {}): Delivery {
  return {
    id: 'dlv_1',
    event_id: 'evt_1',
    event_type: 'check.updated',
    endpoint_id: 'we_1',
    external_check_id: 'dinner',
    status: 'pending',
    attempts: [],
    next_attempt_at: began,
    dead_reason: null,
    ...change,
  }
}

const failed: AttemptResult = {
  started_at: began,
  duration_ms: 9_500,
  outcome: 'bad_status',
  response_status: 500,
  response_body: 'no',
  error: 'It answered 500.',
}
const succeeded: AttemptResult = {
  ...failed,
  outcome: 'succeeded',
  response_status: 200,
  error: null,
}
const earlier: Attempt = { ...failed, number: 1 }

interface Given {
  delivery?: Delivery | undefined
  endpoint?: WebhookEndpoint | undefined
  /** All that is pending for the endpoint. */
  pending?: readonly Delivery[]
}

/** Returns the decision for an attempt with these records. */
function decide(given: Given, command: Partial<RecordAttempt> = {}) {
  const records = { delivery: delivery(), endpoint: endpoint(), pending: [delivery()], ...given }
  const asked = {
    delivery_id: 'dlv_1',
    endpoint_id: 'we_1',
    attempt: (records.delivery?.attempts.length ?? 0) + 1,
    generation: 1,
    result: failed,
    retry_in_ms: MINUTE,
    disable_after: 10,
    ...command,
  }
  const context = {
    now: ended,
    newId: (prefix: string) => `${prefix}_new`,
    newSecret: () => '',
    generation: 1,
  }
  return recordAttempt.decide(records, asked, context)
}

describe('an attempt that failed', () => {
  test('is followed by the next one after its backoff, counted from its end', () => {
    const { reply } = decide({})
    expect(reply).toMatchObject({ status: 'pending', next_attempt_at: '2026-11-21T12:01:09.500Z' })
  })

  test('is stored with its number, after the earlier ones', () => {
    const signed = { ...failed, signed_at: 1_795_000_000, faults: ['duplicate' as const], held_ms: 3 }
    const { reply } = decide({ delivery: delivery({ attempts: [earlier] }) }, { result: signed })
    expect(reply.attempts).toEqual([earlier, { ...signed, number: 2 }])
  })

  test('is dead after the last attempt of the retry schedule', () => {
    expect(decide({}, { retry_in_ms: null }).reply).toMatchObject({
      status: 'dead',
      dead_reason: 'exhausted',
      next_attempt_at: null,
    })
  })

  test('no longer holds the delivery back, and keeps the time of a verbatim signature', () => {
    const held = { faults: ['delay' as const], since: began, not_before: began }
    const { reply } = decide({ delivery: delivery({ held, signed_at: 7 }) })
    expect(reply).not.toHaveProperty('held')
    expect(reply.signed_at).toBe(7)
  })

  test('counts against its endpoint when it is the first of its delivery', () => {
    const { reply, writes, events } = decide({ endpoint: endpoint({ consecutive_failures: 3 }) })
    expect(writes).toEqual([
      put('deliveries', reply),
      put('endpoints', endpoint({ consecutive_failures: 4 })),
    ])
    expect(events).toEqual([])
  })

  test.each<[what: string, given: Given]>([
    ['a later attempt of its delivery', { delivery: delivery({ attempts: [earlier] }) }],
    ['a ping', { delivery: delivery({ event_type: 'ping' }) }],
  ])('does not count when it is %s', (_what, given) => {
    const { reply, writes } = decide(given, { disable_after: 1 })
    expect(writes).toEqual([put('deliveries', reply)])
  })
})

test('an attempt keeps its response headers, and has none without them', () => {
  const response_headers = [{ name: 'Retry-After', value: '30' }]
  const result = { ...failed, response_headers, response_headers_cut: true as const }
  expect(decide({}, { result }).reply.attempts).toEqual([{ ...result, number: 1 }])
  expect(decide({}).reply.attempts).toEqual([{ ...failed, number: 1 }])
})

describe('an attempt that succeeded', () => {
  test('ends its delivery, and does not write an endpoint without failures', () => {
    const { reply, writes } = decide({}, { result: succeeded })
    expect(reply).toEqual(
      delivery({
        endpoint_url: endpoint().url,
        status: 'delivered',
        next_attempt_at: null,
        attempts: [{ ...succeeded, number: 1 }],
      }),
    )
    expect(writes).toEqual([put('deliveries', reply)])
  })

  test('ends its delivery also when it is the last attempt', () => {
    expect(decide({}, { result: succeeded, retry_in_ms: null }).reply).toMatchObject({
      status: 'delivered',
      dead_reason: null,
    })
  })

  test.each([0, 1])('resets the failure count after %i earlier attempts', (count) => {
    const attempts = Array.from({ length: count }, () => earlier)
    const given = { delivery: delivery({ attempts }), endpoint: endpoint({ consecutive_failures: 9 }) }
    expect(decide(given, { result: succeeded }).writes).toContainEqual(put('endpoints', endpoint()))
  })

  test('of a ping does not reset the failure count', () => {
    const given = {
      delivery: delivery({ event_type: 'ping' }),
      endpoint: endpoint({ consecutive_failures: 9 }),
    }
    expect(decide(given, { result: succeeded }).writes).toHaveLength(1)
  })
})

describe('the failure that disables an endpoint', () => {
  const others = [delivery({ id: 'dlv_2' }), delivery({ id: 'dlv_3', attempts: [earlier] })]
  const given = {
    endpoint: endpoint({ consecutive_failures: 9 }),
    pending: [delivery(), ...others],
  }

  test('is the tenth consecutive one, and ends all pending deliveries of the endpoint', () => {
    const { reply, writes } = decide(given)
    const dead = {
      endpoint_url: endpoint().url,
      status: 'dead',
      next_attempt_at: null,
      dead_reason: 'endpoint_disabled',
    } as const
    expect(reply).toEqual(delivery({ ...dead, attempts: [{ ...failed, number: 1 }] }))
    expect(writes).toEqual([
      put(
        'endpoints',
        endpoint({
          consecutive_failures: 10,
          status: 'disabled',
          disabled_at: ended.toISOString(),
          disabled_reason: '10 consecutive deliveries failed',
        }),
      ),
      put('deliveries', reply),
      ...others.map((one) => ({ collection: 'deliveries', put: { ...one, ...dead }, retires: true })),
    ])
  })

  test('keeps the offers of other deliveries, whose answers are still recorded', () => {
    const offer = { id: 'off_1', copy: 1, started_at: began, signed_at: 7 }
    const { writes } = decide({ ...given, pending: [delivery({ id: 'dlv_2', offer })] })
    expect(writes.at(-1)).toMatchObject({ put: { id: 'dlv_2', status: 'dead', offer } })
  })

  test('may be the first, and says so', () => {
    const first = { ...given, endpoint: endpoint({ consecutive_failures: 0 }) }
    const [disabled] = decide(first, { disable_after: 1 }).writes
    expect(disabled).toMatchObject({ put: { disabled_reason: '1 delivery failed' } })
  })

  test('is not the ninth, and does not exist with a limit of 0', () => {
    const ninth = { ...given, endpoint: endpoint({ consecutive_failures: 8 }) }
    expect(decide(ninth).writes).toContainEqual(put('endpoints', endpoint({ consecutive_failures: 9 })))
    expect(decide(given, { disable_after: 0 }).writes).toContainEqual(
      put('endpoints', endpoint({ consecutive_failures: 10 })),
    )
  })

  test('keeps a delivery without attempts left exhausted', () => {
    expect(decide(given, { retry_in_ms: null }).reply).toMatchObject({
      status: 'dead',
      dead_reason: 'exhausted',
    })
  })
})

describe('an attempt that ends when', () => {
  test.each<[what: string, given: Given]>([
    ['its endpoint is disabled', { endpoint: endpoint({ status: 'disabled' }) }],
    ['its endpoint is gone', { endpoint: undefined }],
  ])('%s is the last one, and does not write the endpoint', (_what, given) => {
    const { reply, writes } = decide(given)
    expect(reply).toMatchObject({
      status: 'dead',
      dead_reason: 'endpoint_disabled',
      attempts: [{ number: 1, outcome: 'bad_status' }],
    })
    expect(writes).toEqual([put('deliveries', reply)])
  })

  test('its endpoint is disabled still delivers when it succeeded', () => {
    const given = { endpoint: endpoint({ status: 'disabled' }) }
    expect(decide(given, { result: succeeded }).reply).toMatchObject({ status: 'delivered' })
  })

  test.each(['delivered', 'dead'] as const)('its delivery is %s already changes nothing', (status) => {
    const over = delivery({ status, next_attempt_at: null })
    expect(decide({ delivery: over })).toEqual({ reply: over, writes: [], events: [] })
  })

  test.each([
    ['another instance has made the same attempt', 1],
    ['its delivery lacks an earlier attempt', 3],
  ])('%s changes nothing', (_what, attempt) => {
    const tried = delivery({ attempts: [earlier] })
    expect(decide({ delivery: tried }, { attempt })).toEqual({ reply: tried, writes: [], events: [] })
  })

  test('all records were replaced since it began is refused', () => {
    expect(refusalOf(() => decide({}, { generation: 0 }))).toMatchObject({ code: 'not_found' })
  })

  test('its delivery is deleted is refused', () => {
    const refusal = refusalOf(() => decide({ delivery: undefined }))
    expect(refusal).toMatchObject({ code: 'not_found', message: expect.stringContaining('dlv_1') as string })
  })
})

test('recording an attempt reads the delivery, its endpoint and that endpoint’s other pending deliveries', () => {
  const command = { delivery_id: 'dlv_1', endpoint_id: 'we_1', attempt: 1, generation: 0, result: failed }
  expect(recordAttempt.reads({ ...command, retry_in_ms: null, disable_after: 0 })).toEqual({
    delivery: { collection: 'deliveries', id: 'dlv_1' },
    endpoint: { collection: 'endpoints', id: 'we_1' },
    pending: { collection: 'deliveries', index: 'pending_of', key: 'we_1' },
  })
})
