import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Envelope } from '../../src/model/event.ts'
import type { SimulatorOptions } from '../../src/simulator.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { postgresPrograms } from '../support/postgres.ts'
import { sharedStore } from '../support/shared-store.ts'
import { openReceiver, openSimulator, type TestSimulator } from '../support/simulator.ts'

/** Slots change hands soon. */
const deliveryTimes = { renewMs: 500, pollMs: 50 }
const MINUTE = 60_000

describe.skipIf(postgresPrograms === undefined)('deliveries of instances that share a sandbox', () => {
  const shared = sharedStore()

  const instance = (options: SimulatorOptions = {}) =>
    openSimulator({ store: shared.database.url, sandbox: shared.sandbox, deliveryTimes, ...options })

  async function instances(count: number, options?: SimulatorOptions) {
    const all = await Promise.all(Array.from({ length: count }, () => instance(options)))
    const pick = (number: number) => all[number % count] ?? all[0]
    return { all, pick: pick as (number: number) => TestSimulator }
  }

  const register = (simulator: TestSimulator, url: string) => simulator.client.endpoints.create({ url })

  async function deliveriesOf(simulator: TestSimulator): Promise<readonly Delivery[]> {
    const { json } = await simulator.call('GET /_sim/deliveries?limit=100')
    return (json as { data: Delivery[] }).data
  }

  /** Counts the requests of each delivery, and those that are open at a time, by endpoint and by delivery. */
  async function openCountingReceiver(answerMs: number) {
    const counts = new Map<string, number>()
    const openBy = new Map<string, number>()
    const most = { endpoint: 0, delivery: 0 }
    const add = (key: string, change: 1 | -1) => {
      const now = (openBy.get(key) ?? 0) + change
      openBy.set(key, now)
      return now
    }
    const receiver = await openReceiver((response, { url, body }) => {
      const delivery = `${url} ${(JSON.parse(body.toString()) as Envelope).id}`
      counts.set(delivery, (counts.get(delivery) ?? 0) + 1)
      most.endpoint = Math.max(most.endpoint, add(url, 1))
      most.delivery = Math.max(most.delivery, add(delivery, 1))
      setTimeout(() => {
        add(url, -1)
        add(delivery, -1)
        response.writeHead(204).end()
      }, answerMs)
    })
    return { receiver, counts, most }
  }

  it('are each attempted once, at most eight at a time per endpoint, while instances come and go', async () => {
    const unrecorded: unknown[] = []
    const options = { onError: (error: unknown) => void unrecorded.push(error) }
    const { all, pick } = await instances(2, options)
    const { receiver, counts, most } = await openCountingReceiver(30)
    for (let endpoint = 0; endpoint < 6; endpoint += 1) await register(pick(0), `${receiver.url}${endpoint}`)
    const push = async (number: number) => {
      const one = all[number % all.length] ?? pick(0)
      let { status } = await one.push(`check-${number}`)
      while (status === 503) ({ status } = await one.push(`check-${number}`))
    }
    await Promise.all(Array.from({ length: 20 }, (_, number) => push(number)))
    all.push(await instance(options))
    await Promise.all(Array.from({ length: 20 }, (_, number) => push(20 + number)))
    await pick(0).close()
    await pick(1).idle()
    for (const { status, attempts } of await deliveriesOf(pick(1)))
      expect([status, attempts.length]).toEqual(['delivered', 1])
    expect(counts.size).toBe(240)
    // On a busy machine the database may answer too late, and an attempt whose outcome is not recorded is made again.
    const requests = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect(requests - 240).toBeLessThanOrEqual(unrecorded.length)
    expect(most.endpoint).toBeLessThanOrEqual(8)
    expect(most.endpoint).toBeGreaterThan(2)
    expect(most.delivery).toBe(1)
  })

  it('are retried by the instance that takes over, once and when they are due', async () => {
    const clock = createManualClock()
    const { pick } = await instances(2, { clock })
    const receiver = await openReceiver(500)
    for (let endpoint = 0; endpoint < 8; endpoint += 1) await register(pick(0), `${receiver.url}${endpoint}`)
    await pick(0).push('check-1')
    await pick(0).idle()
    expect(receiver.requests).toHaveLength(8)
    await pick(0).close()
    await pick(1).idle()
    clock.advance(MINUTE - 1)
    await pick(1).idle()
    expect(receiver.requests).toHaveLength(8)
    clock.advance(1)
    await pick(1).idle()
    expect(receiver.requests).toHaveLength(16)
    for (const { attempts, next_attempt_at } of await deliveriesOf(pick(1))) {
      expect(attempts.map(({ number }) => number)).toEqual([1, 2])
      expect(next_attempt_at).toBe(new Date(clock.now().getTime() + 5 * MINUTE).toISOString())
    }
  })

  it('disable an endpoint after so many failures, whichever instance attempts them', async () => {
    const clock = createManualClock()
    const { all, pick } = await instances(3, { clock, disableAfter: 12 })
    const receiver = await openReceiver(500)
    const { id } = await register(pick(0), receiver.url)
    for (let number = 0; number < 6; number += 1) await pick(number).push(`check-${number}`)
    await pick(1).idle()
    await pick(0).close()
    for (let number = 6; number < 11; number += 1) await pick(1).push(`check-${number}`)
    await pick(1).idle()
    expect(await pick(1).client.endpoints.get(id)).toMatchObject({ status: 'enabled' })
    await pick(2).push('check-11')
    await pick(1).idle()
    expect(await pick(2).client.endpoints.get(id)).toMatchObject({ status: 'disabled' })
    await pick(2).push('check-12')
    clock.advance(60 * MINUTE)
    await Promise.all(all.slice(1).map(({ idle }) => idle()))
    expect(receiver.requests).toHaveLength(12)
  })

  it('of pings are reported by each instance, also when the queue of the endpoint is full', async () => {
    const { pick } = await instances(3)
    const hanging = new Set<ServerResponse>()
    const receiver = await openReceiver((response) => void hanging.add(response))
    const { id } = await register(pick(0), receiver.url)
    await Promise.all(Array.from({ length: 12 }, (_, number) => pick(number).push(`check-${number}`)))
    await receiver.received(8)
    receiver.answer(204)
    const answers = await Promise.all([0, 1, 2].map((number) => pick(number).client.endpoints.ping(id)))
    expect(answers).toMatchObject([
      { response_status: 204 },
      { response_status: 204 },
      { response_status: 204 },
    ])
    const pings = receiver.requests.filter(({ body }) => body.toString().includes('"ping"'))
    expect(pings).toHaveLength(3)
    for (const response of hanging) response.writeHead(204).end()
  })

  it('in flight are aborted when another instance replaces the state, and nothing of them is recorded', async () => {
    const { pick } = await instances(3)
    const hanging = new Set<ServerResponse>()
    let aborted = 0
    const receiver = await openReceiver((response) => {
      hanging.add(response)
      response.once('close', () => (aborted += response.writableFinished ? 0 : 1))
    })
    for (let endpoint = 0; endpoint < 8; endpoint += 1) await register(pick(0), `${receiver.url}${endpoint}`)
    await pick(0).push('check-1')
    await receiver.received(8)
    const state = await pick(1).client.state.get()
    await pick(1).client.state.load(state)
    // The deliveries of the new state have the same ids, and each is attempted again.
    await receiver.received(16)
    expect(aborted).toBe(8)
    for (const response of hanging) if (!response.destroyed) response.writeHead(204).end()
    await pick(2).idle()
    expect(receiver.requests).toHaveLength(16)
    for (const { status, attempts } of await deliveriesOf(pick(2)))
      expect([status, attempts.length]).toEqual(['delivered', 1])
  })
})
