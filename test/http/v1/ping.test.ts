import { Stripe } from 'stripe'
import { describe, expect, it } from 'vitest'
import type { PingReport } from '../../../src/client.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { deadUrl, errorOf, openReceiver, openSimulator } from '../../support/simulator.ts'

const { webhooks } = new Stripe('sk_test_x')
const event_types = ['feedback.received' as const]

describe('a ping', () => {
  it('is signed, goes to that endpoint only, and contains the endpoint without its secret', async () => {
    const simulator = await openSimulator()
    const { endpoints } = simulator.client
    const [receiver, other] = [await openReceiver(), await openReceiver()]
    const { signing_secret, ...endpoint } = await endpoints.create({ url: receiver.url, event_types })
    await endpoints.create({ url: other.url, event_types })
    const answer = await simulator.call(`POST /v1/webhook-endpoints/${endpoint.id}/test`)
    const [received] = receiver.requests
    const header = String(received?.headers['x-service-signature'])
    const event = webhooks.constructEvent(received?.body ?? '', header, signing_secret) as object
    expect(Object.keys(event)).toEqual(['id', 'type', 'created_at', 'data'])
    expect(event).toMatchObject({ type: 'ping', data: endpoint })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ event_id: (event as { id: string }).id })
    expect(other.requests).toEqual([])
  })

  it.each<[what: string, answer: () => Promise<string>, report: Partial<PingReport>]>([
    [
      'answers 200',
      async () => (await openReceiver(200)).url,
      { outcome: 'succeeded', response_status: 200 },
    ],
    [
      'answers 204',
      async () => (await openReceiver(204)).url,
      { outcome: 'succeeded', response_status: 204 },
    ],
    [
      'answers 500',
      async () => (await openReceiver(500)).url,
      { outcome: 'bad_status', response_status: 500 },
    ],
    [
      'answers 301',
      async () => (await openReceiver(301)).url,
      { outcome: 'bad_status', response_status: 301 },
    ],
    [
      'breaks off',
      async () => (await openReceiver('reset')).url,
      { outcome: 'connection_reset', response_status: null },
    ],
    ['is not there', async () => deadUrl, { outcome: 'connection_refused', response_status: null }],
  ])('of a receiver that %s is 200 with a report', async (_what, url, report) => {
    const simulator = await openSimulator()
    const { id } = await simulator.client.endpoints.create({ url: await url(), event_types })
    const answer = await simulator.call(`POST /v1/webhook-endpoints/${id}/test`)
    expect(answer.status).toBe(200)
    const { error, duration_ms, ...rest } = answer.json as PingReport
    expect(Object.keys(answer.json as object)).toEqual([
      'delivery_id',
      'event_id',
      'outcome',
      'response_status',
      'duration_ms',
      'error',
    ])
    expect(rest).toMatchObject(report)
    expect(duration_ms).toBeGreaterThanOrEqual(0)
    expect(error === null).toBe(report.outcome === 'succeeded')
    const delivery = await simulator.client.deliveries.get(rest.delivery_id)
    expect(delivery).toMatchObject({ event_id: rest.event_id, event_type: 'ping', attempts: [report] })
    expect((await simulator.client.events.get(rest.event_id)).type).toBe('ping')
  })

  it('is attempted once, at once, and not retried', async () => {
    const clock = createManualClock()
    const simulator = await openSimulator({ clock })
    const receiver = await openReceiver(500)
    const { id } = await simulator.client.endpoints.create({ url: receiver.url, event_types })
    const { delivery_id } = await simulator.client.endpoints.ping(id)
    clock.advance(48 * 3_600_000)
    await simulator.idle()
    expect(receiver.requests).toHaveLength(1)
    expect(await simulator.client.deliveries.get(delivery_id)).toMatchObject({
      status: 'dead',
      next_attempt_at: null,
    })
  })

  it('does not count towards disabling', async () => {
    const simulator = await openSimulator({ disableAfter: 1 })
    const { id } = await simulator.client.endpoints.create({ url: deadUrl, event_types })
    await simulator.client.endpoints.ping(id)
    expect(await simulator.client.endpoints.get(id)).toMatchObject({ status: 'enabled' })
  })

  it('to an unknown or deleted endpoint is 404', async () => {
    const simulator = await openSimulator()
    const { id } = await simulator.client.endpoints.create({ url: deadUrl, event_types })
    await simulator.client.endpoints.delete(id)
    for (const unknown of [id, 'we_1', 'we_00000000000000000000000000']) {
      const answer = await simulator.call(`POST /v1/webhook-endpoints/${unknown}/test`)
      expect(answer.status).toBe(404)
      expect(errorOf(answer).code).toBe('not_found')
    }
  })

  it('to a disabled endpoint is 409, and nothing is sent', async () => {
    const simulator = await openSimulator({ disableAfter: 1 })
    const receiver = await openReceiver(500)
    const { id } = await simulator.client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created'],
    })
    await simulator.push('a')
    await simulator.idle()
    const answer = await simulator.call(`POST /v1/webhook-endpoints/${id}/test`)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).code).toBe('endpoint_disabled')
    expect(receiver.requests).toHaveLength(1)
    expect(await simulator.client.endpoints.get(id)).toMatchObject({
      status: 'disabled',
      disabled_at: expect.stringMatching(/Z$/) as string,
      disabled_reason: expect.any(String) as string,
    })
  })
})
