import { describe, expect, it } from 'vitest'
import type { ResendPlan, SentRequest } from '../../../src/model/simulator/sent-request.ts'
import { deadUrl, errorOf, openReceiver, openSimulator } from '../../support/simulator.ts'

const event_types = ['check.created' as const]

describe('GET /_sim/deliveries/{id}/request', () => {
  it('shows method, URL, all headers and the body as the receiver got them, for each attempt', async () => {
    const simulator = await openSimulator({ serviceName: 'Acme', signTime: 'virtual' })
    const { client, push, call, idle } = simulator
    const receiver = await openReceiver(503)
    await client.endpoints.create({ url: `${receiver.url}hooks?a=1`, event_types })
    await push('Café')
    await idle()
    await client.clock.advance('1m')
    const [delivery] = (await client.deliveries.list()).data
    const [first, second] = await receiver.received(2)
    const path = `/_sim/deliveries/${delivery?.id}/request`
    const latest = (await call(`GET ${path}`)).json as SentRequest
    expect(latest).toMatchObject({ attempt: 2, method: 'POST', url: `${receiver.url}hooks?a=1` })
    expect(latest.endpoint).toEqual({ status: 'enabled', disabled_reason: null, event_types })
    for (const [number, received] of [
      [1, first],
      [2, second],
    ] as const) {
      const { headers, body } = (await call(`GET ${path}?attempt=${number}`)).json as SentRequest
      const sent = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))
      expect(sent).toEqual(received?.headers)
      expect(body).toBe(received?.body.toString())
    }
    expect(errorOf(await call(`GET ${path}?attempt=3`)).message).toBe(
      `Delivery ${delivery?.id} has 2 attempts, none with the number 3.`,
    )
  })

  it('keeps the URL after the endpoint was removed, and says why there is no signature', async () => {
    const simulator = await openSimulator()
    const { client, push, call, idle } = simulator
    const { id } = await client.endpoints.create({ url: deadUrl, event_types })
    await push('a')
    await idle()
    await client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 3_600_000 }] })
    await push('b')
    await idle()
    await client.endpoints.delete(id)
    const { data } = await client.deliveries.list({ status: 'dead' })
    expect(data.map(({ attempts }) => attempts.length)).toEqual([0, 1])
    for (const delivery of data) {
      expect(delivery.endpoint_url).toBe(deadUrl)
      const sent = (await call(`GET /_sim/deliveries/${delivery.id}/request`)).json as SentRequest
      expect(sent).toMatchObject({ url: deadUrl, endpoint: { status: 'removed' } })
      expect(sent.headers.map(({ name }) => name)).not.toContain('X-Service-Signature')
      expect(sent.unsigned_reason).toMatch(
        delivery.attempts.length === 0 ? /has not been attempted/ : /no longer exists/,
      )
    }
    // A state without the URL, as earlier versions saved it, is loaded all the same.
    const state = await client.state.get()
    const old = JSON.stringify({
      ...state,
      deliveries: data.map(({ endpoint_url: _url, ...delivery }) => delivery),
    })
    await client.state.put(old)
    const sent = (await call(`GET /_sim/deliveries/${data[0]?.id}/request`)).json as SentRequest
    expect(sent.url).toBeNull()
  })
})

describe('GET /_sim/deliveries/resend-plan', () => {
  it('lists all matching dead deliveries once per event and endpoint, and counts the others by reason', async () => {
    const simulator = await openSimulator({ disableAfter: 0 })
    const { client, push, call, idle } = simulator
    const receiver = await openReceiver(500)
    const kept = await client.endpoints.create({ url: receiver.url, event_types })
    const removed = await client.endpoints.create({ url: deadUrl, event_types })
    await client.endpoints.ping(kept.id)
    for (const id of ['a', 'b', 'c']) await push(id)
    await idle()
    await client.clock.advance('36h')
    await client.endpoints.delete(removed.id)
    const plan = async (query = '') =>
      (await call(`GET /_sim/deliveries/resend-plan${query}`)).json as ResendPlan
    const { data } = await client.deliveries.list({ endpoint_id: kept.id })
    const ofChecks = data.filter(({ event_type }) => event_type !== 'ping').map(({ id }) => id)
    expect(await plan()).toEqual({
      ids: ofChecks.toReversed(),
      skipped: { endpoint_disabled: 0, endpoint_removed: 3, covered: 0, ping: 1 },
    })
    expect((await plan(`?endpoint_id=${removed.id}`)).ids).toEqual([])
    // A delivery that was resent is covered by the new one.
    receiver.answer(200)
    await client.deliveries.resend(ofChecks[0] ?? '')
    await idle()
    expect(await plan(`?endpoint_id=${kept.id}&type=check.created`)).toEqual({
      ids: ofChecks.slice(1).toReversed(),
      skipped: { endpoint_disabled: 0, endpoint_removed: 0, covered: 1, ping: 0 },
    })
  })
})
