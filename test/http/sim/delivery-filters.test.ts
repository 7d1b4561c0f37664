import { describe, expect, it } from 'vitest'
import type { DeliveriesQuery, RequestsQuery } from '../../../src/client.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { deadUrl, errorOf, openReceiver, openSimulator } from '../../support/simulator.ts'

const event_types = ['check.created' as const]

/** A delivery that succeeds, one that a fault holds, and one that fails; an hour of the clock between them. */
async function withDeliveries() {
  const simulator = await openSimulator({ disableAfter: 0 })
  const { client, push, idle } = simulator
  const receiver = await openReceiver()
  const good = await client.endpoints.create({ url: receiver.url, event_types })
  await push('delivered')
  await idle()
  await client.endpoints.delete(good.id)
  await client.clock.advance('1h')
  const second = (await client.clock.show()).now
  await client.endpoints.create({ url: deadUrl, event_types })
  await push('retrying')
  await idle()
  await client.clock.advance('1h')
  await client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 3_600_000 }] })
  await push('held')
  await idle()
  const found = async (query: DeliveriesQuery) =>
    (await client.deliveries.list(query)).data.map(({ external_check_id }) => external_check_id)
  return { simulator, client, good, second, found }
}

describe('GET /_sim/deliveries', () => {
  it('filters by the words of a delivery, by its latest outcome and by endpoint', async () => {
    const { simulator, good, found } = await withDeliveries()
    expect(await found({ status: 'pending' })).toEqual(['held', 'retrying'])
    expect(await found({ status: 'retrying' })).toEqual(['retrying'])
    expect(await found({ status: 'held' })).toEqual(['held'])
    expect(await found({ status: 'delivered' })).toEqual(['delivered'])
    expect(await found({ outcome: 'connection_refused' })).toEqual(['retrying'])
    expect(await found({ outcome: 'succeeded', endpoint_id: good.id })).toEqual(['delivered'])
    const refused = await simulator.call('GET /_sim/deliveries?outcome=failed')
    expect(errorOf(refused).message).toMatch(
      /^outcome must be one of succeeded, bad_status, .*, got "failed"\.$/,
    )
  })

  it('filters by the time of creation or of an attempt, with from included and to excluded', async () => {
    const { client, second, found } = await withDeliveries()
    const [held, retrying, delivered] = (await client.deliveries.list()).data
    const first = delivered?.attempts[0]?.started_at ?? ''
    const third = retrying?.attempts.at(-1)?.started_at ?? ''
    expect(held?.attempts).toEqual([])
    expect(await found({ from: second })).toEqual(['held', 'retrying'])
    expect(await found({ to: second })).toEqual(['delivered'])
    expect(await found({ from: first, to: second })).toEqual(['delivered'])
    // A retry counts, as in the chart of attempts.
    expect(await found({ from: third, to: new Date(Date.parse(third) + 1).toISOString() })).toEqual([
      'retrying',
    ])
  })
})

describe('GET /_sim/events and /_sim/requests', () => {
  it('filter by time, and pushes by outcome', async () => {
    const clock = createManualClock()
    const { client, push, call } = await openSimulator({ clock })
    await push('first')
    clock.advance(60_000)
    const between = clock.now().toISOString()
    clock.advance(60_000)
    await push('second')
    await call('PUT /v1/checks/external/third', { json: {} })
    await client.faults.set({ faults: [{ on: 'api', times: 1, error_rate: 1 }] })
    await push('fourth')
    const events = async (query: object) =>
      (await client.events.list(query)).data.map(({ external_check_id }) => external_check_id)
    expect(await events({ from: between })).toEqual(['second'])
    expect(await events({ to: between })).toEqual(['first'])
    const pushes = async (query: RequestsQuery) =>
      (await client.requests.list({ kind: 'push', ...query })).data.map(({ path }) =>
        path.slice(path.lastIndexOf('/') + 1),
      )
    expect(await pushes({ from: between })).toEqual(['fourth', 'third', 'second'])
    expect(await pushes({ to: between })).toEqual(['first'])
    expect(await pushes({ outcome: 'created' })).toEqual(['second', 'first'])
    expect(await pushes({ outcome: 'refused' })).toEqual(['third'])
    expect(await pushes({ outcome: 'fault' })).toEqual(['fourth'])
    await client.faults.set({ faults: [{ on: 'api', times: 1, latency_ms: 1 }] })
    await call('PUT /v1/checks/external/fifth', { json: {} })
    expect(await pushes({ outcome: 'refused' })).toEqual(['fifth', 'third'])
    expect(await pushes({ outcome: 'fault' })).toEqual(['fourth'])
  })
})

it.each(['events', 'deliveries'])('GET /_sim/%s refuses an unknown type', async (list) => {
  const { call } = await openSimulator()
  const refused = await call(`GET /_sim/${list}?type=check.creatd`)
  expect([refused.status, errorOf(refused).code]).toEqual([400, 'invalid_query'])
  expect(errorOf(refused).message).toMatch(
    /^type must be one of check\.created, .*, ping, got "check\.creatd"\.$/,
  )
  for (const type of ['feedback.received', 'ping'])
    expect(await call(`GET /_sim/${list}?type=${type}`)).toMatchObject({ status: 200 })
})
