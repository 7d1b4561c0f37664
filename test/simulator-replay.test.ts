import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient, type Client } from '../src/client.ts'
import { bundleOf } from '../src/model/simulator/bundle.ts'
import { startReplay } from '../src/simulator.ts'
import { startReceiver } from './support/https-receiver.ts'
import { check, item, openSimulator, totals } from './support/simulator.ts'

/** A simulator with open and ended deliveries, findings of each kind of tracker, and a replay of it. */
async function openReplay() {
  const receiver = await startReceiver({ answer: [500, 500, 204, 204, 500] })
  onTestFinished(() => receiver.close())
  const options = { seed: 5, clock: '2026-11-23T12:00:00.000Z', allowHttpLoopback: true }
  const simulator = await openSimulator(options)
  const { client, call, push, idle } = simulator
  await client.endpoints.create({ url: `${receiver.url}hooks` })
  await push('t1', { items: [item('a-7f'), item('b-8e')], totals: totals(3700) })
  await push('t2', { items: [item('c-1d'), item('d-2c')], totals: totals(9) })
  await client.guests.claim('t1', { items: [{ external_id: 'a-7f', quantity: 1 }], guest_name: 'Anna' })
  await push('t1', { items: [item('b-8e')], totals: totals(1850) })
  await client.guests.pay('t2')
  await call('PUT /v1/checks/external/t3', { json: { table: 3 } })
  await client.faults.set({
    faults: [
      { on: 'api', error_rate: 1, times: 2 },
      { on: 'deliveries', drop: 0.5 },
    ],
  })
  await push('t4')
  await push('t6', { revision: 2 })
  await idle()
  await client.clock.advance('20m')
  const replayed = bundleOf(await client.bundle({ all_closed: true }))
  const bugs: unknown[] = []
  const service = await startReplay(replayed, { port: false, onError: (bug) => bugs.push(bug) })
  onTestFinished(async () => {
    await service.close()
    expect(bugs).toEqual([])
  })
  const replay = createClient({ url: service.url, apiKey: service.apiKey, fetch: service.fetch })
  return { simulator, client, replay, service, receiver, bundle: replayed }
}

/** Everything that the inspector and commands list, but the requests: reads of `/v1` are logged, too. */
async function everythingOf(client: Client) {
  const lists = ['checks', 'claims', 'payments', 'feedback', 'endpoints', 'events', 'deliveries'] as const
  const listed = await Promise.all(lists.map(async (name) => (await client[name].list({ limit: 100 })).data))
  const { offset_ms: _offset, ...clock } = await client.clock.show()
  return {
    ...Object.fromEntries(lists.map((name, at) => [name, listed[at]])),
    clock: { ...clock, frozen: true },
    faults: await client.faults.show(),
    report: await client.report(),
    account: await client.account({ all_closed: true }),
  }
}

describe('a replay', () => {
  it('has the records, requests, faults, clock and verdict of its bundle', async () => {
    const { client, replay, bundle } = await openReplay()
    const before = await everythingOf(client)
    expect(await everythingOf(replay)).toEqual(before)
    expect(before.report).toEqual(bundle.verdict.report)
    expect(before.account).toEqual(bundle.verdict.account)
    expect(before.report.findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['totals_mismatch', 'no_idempotent_retry', 'push_refused', 'paid_not_closed']),
    )
    for (const { id } of bundle.log.requests)
      expect(await replay.requests.get(id)).toEqual(await client.requests.get(id))
    expect(await (await replay.request('GET', '/_sim/health')).json).toMatchObject({
      started_at: bundle.started_at,
      replay: { recorded_at: bundle.recorded_at, tabwire: bundle.tabwire, node: process.version },
    })
  })

  it('reports the same findings for further pushes as the recorded service', async () => {
    const { client, replay } = await openReplay()
    await client.faults.clear()
    await client.clock.freeze(true)
    const pushes = [
      // The retry of the push that failed, the refused ones again, and a check that repeats the items of another one.
      ['t4', check()],
      // A newer state of the other push that failed.
      ['t6', check({ items: [item('e-3b')], revision: 3 })],
      ['t3', { table: 3 }],
      ['t1', check({ items: [item('b-8e')], totals: totals(1850) })],
      ['t5', check({ items: [item('a-7f'), item('b-8e')], totals: totals(3700) })],
      ['t2', check({ status: 'closed', items: [item('c-1d'), item('d-2c')], totals: totals(9) })],
    ] as const
    for (const [name, body] of pushes)
      for (const one of [client, replay])
        await one.checks.push(name, JSON.stringify(body)).catch(() => undefined)
    const codesOf = async (one: Client) => {
      const { findings, refused } = await one.report()
      const { problems } = await one.account({ all_closed: true })
      return [
        findings.map(({ code, count }) => [code, count]),
        refused,
        problems.map(({ code, message }) => [code, message]),
      ]
    }
    const [expected, found] = [await codesOf(client), await codesOf(replay)]
    expect(found).toEqual(expected)
    expect(JSON.stringify(expected)).toContain('conflict_ignored')
    expect(JSON.stringify(expected)).toContain('invalid_push_repeated')
    expect(JSON.stringify(expected)).not.toContain('no_idempotent_retry')
  })

  it('sends nothing, whatever is called', async () => {
    const { replay, receiver, service, bundle } = await openReplay()
    const sent = receiver.requests.length
    const [endpoint] = bundle.state.endpoints
    const [delivery] = bundle.state.deliveries
    if (endpoint === undefined || delivery === undefined) throw new Error('The bundle has no delivery.')
    const moved = await replay.clock.advance('48h')
    expect(moved).toMatchObject({ attempted_total: 0, frozen: true })
    expect(await replay.endpoints.ping(endpoint)).toMatchObject({ outcome: null, response_status: null })
    await replay.deliveries.resend(delivery)
    await replay.checks.push('t9', check())
    await replay.guests.pay('t9')
    await replay.endpoints.create({ url: 'https://receiver.example/hooks' })
    await replay.faults.set({
      faults: [
        { on: 'deliveries', duplicate: 1 },
        { on: 'api', error_rate: 1 },
      ],
    })
    await replay.checks.push('t10', check())
    await replay.clock.freeze(false)
    await replay.clock.advance('48h')
    await service.idle()
    expect(receiver.requests).toHaveLength(sent)
    const { data } = await replay.deliveries.list({ limit: 100 })
    const attemptsOf = (all: readonly { attempts: readonly unknown[] }[]) =>
      all.reduce((sum, { attempts }) => sum + attempts.length, 0)
    expect(attemptsOf(data)).toBe(attemptsOf(bundle.state.deliveries))
  })

  it('can be recorded again, with the same verdict', async () => {
    const { replay, bundle } = await openReplay()
    const again = bundleOf(await replay.bundle({ all_closed: true }))
    expect(again.verdict).toEqual(bundle.verdict)
    expect(again.log).toEqual(bundle.log)
    expect({ ...again.state, clock: null }).toEqual({ ...bundle.state, clock: null })
    expect(again.faults).toEqual(bundle.faults)
  })

  it('accepts another state and a reset', async () => {
    const { replay, bundle } = await openReplay()
    await replay.reset()
    expect((await replay.checks.list()).data).toEqual([])
    await replay.state.put({ ...bundle.state, endpoints: [], deliveries: [], events: [] })
    expect((await replay.checks.list()).data).toHaveLength(bundle.state.checks.length)
    expect((await replay.report()).findings).toEqual([])
  })
})
