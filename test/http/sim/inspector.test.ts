import { describe, expect, it } from 'vitest'
import type { Activity } from '../../../src/model/simulator/activity.ts'
import { healthOfAll } from '../../../src/http/sim/inspector.ts'
import type { WebhookEndpoint } from '../../../src/model/webhook-endpoint.ts'
import { storeDeliveries } from '../../pages/inspector/open-inspector.ts'
import { check, errorOf, item, openReceiver, openSimulator, totals } from '../../support/simulator.ts'

describe('the routes of the inspector', () => {
  it('count the attempts of all stored deliveries, also within a time range', async () => {
    const { client, call } = await openSimulator()
    await storeDeliveries(client, 4_500)
    const activity = async (query = '') =>
      (await call(`GET /_sim/deliveries/activity${query}`)).json as Activity
    const sumOf = ({ buckets }: Activity) => ({
      succeeded: buckets.reduce((sum, { succeeded }) => sum + succeeded, 0),
      dead: buckets.reduce((sum, { dead }) => sum + dead, 0),
    })
    const all = await activity()
    expect(all.deliveries).toBe(4_500)
    expect(sumOf(all)).toEqual({ succeeded: 4_000, dead: 500 })
    expect(sumOf(await activity('?status=dead'))).toEqual({ succeeded: 0, dead: 500 })
    const [first] = (await client.deliveries.list({ order: 'asc', limit: 1 })).data
    const from = first?.attempts[0]?.started_at ?? ''
    const to = new Date(Date.parse(from) + 90).toISOString()
    expect(sumOf(await activity(`?from=${from}&to=${to}`))).toEqual({ succeeded: 8, dead: 1 })
    expect(errorOf(await call('GET /_sim/deliveries/activity?from=yesterday'))).toMatchObject({
      code: 'invalid_query',
    })
  })

  it('list the next attempts, earliest first', async () => {
    const { client, call, push, idle } = await openSimulator()
    const { url } = await openReceiver(500)
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await client.clock.freeze(true)
    await push('early')
    await idle()
    await client.clock.advance('1m')
    await push('late')
    await idle()
    const list = async (query = '') =>
      (await call(`GET /_sim/deliveries/upcoming${query}`)).json as { data: unknown[] }
    expect(await list()).toMatchObject({
      data: [
        { external_check_id: 'late', attempts: [{ number: 1 }] },
        { external_check_id: 'early', attempts: [{ number: 1 }, { number: 2 }] },
      ],
    })
    expect((await list('?limit=1')).data).toHaveLength(1)
  })

  it('show the success rate of the newest deliveries and the last error of an endpoint', async () => {
    const { client, call, push, idle } = await openSimulator()
    const receiver = await openReceiver([200, 500, 200])
    const { id } = await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    const unused = await client.endpoints.create({ url: receiver.url, event_types: ['check.closed'] })
    for (const name of ['a', 'b', 'c']) {
      await push(name)
      await idle()
    }
    const health = { recent: { deliveries: 3, delivered: 2 }, last_error: { response_status: 500 } }
    expect((await call(`GET /_sim/webhook-endpoints/${id}`)).json).toMatchObject({ id, ...health })
    expect((await call('GET /_sim/webhook-endpoints')).json).toMatchObject({
      data: [
        { id: unused.id, recent: { deliveries: 0, delivered: 0 }, last_error: null },
        { id, ...health },
      ],
    })
    expect(errorOf(await call('GET /_sim/webhook-endpoints/we_none'))).toMatchObject({ code: 'not_found' })
  })

  it('read at most 10,000 deliveries for the list of endpoints, and all for one endpoint', async () => {
    const endpoint = { id: 'we_1', url: 'https://localhost/', status: 'enabled', event_types: [] }
    const kept = { location_id: 'loc_1', consecutive_failures: 0, signing_secret: 'whsec_1' }
    const endpoints = ['we_1', 'we_2'].map((id) => ({
      ...endpoint,
      ...kept,
      id,
    })) as unknown as WebhookEndpoint[]
    let read = 0
    const list = async (_collection: string, { limit }: { limit: number }) => {
      read += limit
      const data = Array.from({ length: limit }, (_, at) => ({
        id: `dlv_${at}`,
        endpoint_id: 'we_3',
        attempts: [],
      }))
      return { data, more: read < 50_000 }
    }
    const service = { list } as unknown as Parameters<typeof healthOfAll>[0]
    await healthOfAll(service, endpoints, new AbortController().signal)
    expect(read).toBe(10_000)
    read = 0
    await healthOfAll(service, endpoints.slice(0, 1), new AbortController().signal)
    expect(read).toBe(50_000)
  })

  it('push checks without an entry in the request log, and refuse conflicts', async () => {
    const { client, call } = await openSimulator()
    const items = [item('burger'), item('tart', { price_cents: 500 })]
    const json = check({ items, totals: totals(2_350) })
    expect(await call('PUT /_sim/checks/table%2F1', { json })).toMatchObject({ status: 201 })
    expect(await call('PUT /_sim/checks/table%2F1', { json })).toMatchObject({ status: 200 })
    expect((await client.requests.list()).data).toEqual([])
    await client.guests.claim('table/1', {
      guest_name: 'Anna',
      items: [{ external_id: 'tart', quantity: 1 }],
    })
    const without = check({ items: [item('burger')] })
    expect(errorOf(await call('PUT /_sim/checks/table%2F1', { json: without }))).toMatchObject({
      code: 'conflict_with_paid_items',
      conflicts: [{ external_id: 'tart', reason: 'removed' }],
    })
    await client.guests.pay('table/1', { guest_name: 'Anna' })
    await client.guests.rate('table/1', { guest_name: 'Anna', rating: 5 })
    for (const path of ['payments', 'feedback'])
      expect((await call(`GET /_sim/${path}?external_check_id=table%2F1`)).json).toMatchObject({
        data: [{ guest_name: 'Anna' }],
      })
  })
})
