import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, vi, test } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import { put } from '../../src/model/records.ts'
import { Refusal } from '../../src/model/refusal.ts'
import type { NoReads, Operation } from '../../src/operations/operation.ts'
import type { Service } from '../../src/service.ts'
import { timers } from '../../src/timers.ts'
import type { Receiver } from '../support/https-receiver.ts'
import { HOUR, MINUTE, openSetup, trustedReceiver, type Setup } from './setup.ts'

const trash: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of trash.splice(0)) await close()
})

async function open(options?: Parameters<typeof openSetup>[0]): Promise<Setup> {
  const setup = await openSetup(options)
  trash.unshift(() => setup.close())
  return setup
}

async function receive(answer?: Parameters<typeof trustedReceiver>[0]): Promise<Receiver> {
  const receiver = await trustedReceiver(answer)
  trash.push(() => receiver.close())
  return receiver
}

/** A receiver that answers each request when the test says so, and knows how many it had at a time. */
async function receiveByHand() {
  const open = new Set<ServerResponse>()
  let most = 0
  const receiver = await receive((response) => {
    open.add(response)
    most = Math.max(most, open.size)
  })
  const answer = (count = Infinity) => {
    for (const response of [...open].slice(0, count)) {
      open.delete(response)
      response.writeHead(200).end()
    }
  }
  return { ...receiver, requests: receiver.requests, answer, open: () => open.size, most: () => most }
}

describe('deliveries', () => {
  it('are sent when a commit creates them', async () => {
    const setup = await open()
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({ status: 'delivered' })
  })

  it('of an earlier run that are pending are sent at start', async () => {
    const setup = await open()
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.pump.stop({ graceMs: 0 })
    for (const note of ['one', 'two', 'three']) await setup.announce(note)
    const next = setup.startPump()
    trash.unshift(() => next.stop({ graceMs: 0 }))
    await next.idle()
    expect(receiver.requests).toHaveLength(3)
    const statuses = (await setup.deliveries()).map(({ status }) => status)
    expect(statuses).toEqual(['delivered', 'delivered', 'delivered'])
  })

  it('go to the endpoints that list their type, each event at least once and each with its own id', async () => {
    const setup = await open()
    const [created, all] = [await receive(), await receive()]
    await setup.register(created.url, ['check.created'])
    await setup.register(all.url, ['check.created', 'check.updated'])
    for (let made = 0; made < 50; made++)
      await setup.announce(`${made}`, made % 2 === 0 ? 'check.created' : 'check.updated')
    await setup.pump.idle()
    const idsOf = (receiver: Receiver) =>
      new Set(receiver.requests.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id))
    expect(idsOf(created).size).toBe(25)
    expect(idsOf(all).size).toBe(50)
  })

  it('are limited to eight attempts in flight per endpoint', async () => {
    const setup = await open()
    const receiver = await receiveByHand()
    await setup.register(receiver.url)
    for (let made = 0; made < 20; made++) await setup.announce()
    await receiver.received(8)
    expect(receiver.open()).toBe(8)
    receiver.answer(3)
    await receiver.received(11)
    expect(receiver.open()).toBe(8)
    receiver.answer()
    await receiver.received(19)
    receiver.answer()
    await receiver.received(20)
    receiver.answer()
    await setup.pump.idle()
    expect(receiver.most()).toBe(8)
    expect(receiver.requests).toHaveLength(20)
  })

  it('are limited to 64 attempts in flight in all', async () => {
    const setup = await open({ timeoutMs: 600_000, limits: { slowAfterMs: 600_000 } })
    const receiver = await receiveByHand()
    for (let number = 0; number < 9; number++) await setup.register(`${receiver.url}${number}`)
    for (let made = 0; made < 8; made++) await setup.announce()
    await receiver.received(64)
    expect(receiver.open()).toBe(64)
    receiver.answer()
    await receiver.received(72)
    receiver.answer()
    await setup.pump.idle()
    expect(receiver.most()).toBe(64)
  })

  it('free their slot when the headers arrive, so that slow bodies delay nothing', async () => {
    const setup = await open({ bodyTimeoutMs: 600_000 })
    const dripping = new Set<ServerResponse>()
    const receiver = await receive((response) => {
      dripping.add(response.writeHead(200))
      response.write('so far')
    })
    await setup.register(receiver.url)
    for (let made = 0; made < 40; made++) await setup.announce()
    // No body ends of itself, and the oldest are cut where they were.
    await receiver.received(40)
    for (const response of dripping) response.end()
    await setup.pump.idle()
    for (const { status, attempts } of await setup.deliveries())
      expect([status, attempts[0]?.response_body]).toEqual(['delivered', 'so far'])
  })

  it('share the limit of all attempts in flight by round robin over the endpoints', async () => {
    const setup = await open({ limits: { inAll: 4 } })
    const receivers = [await receiveByHand(), await receiveByHand()]
    for (const { url } of receivers) await setup.register(url)
    await setup.pump.stop({ graceMs: 0 })
    for (let made = 0; made < 10; made++) await setup.announce()
    const next = setup.startPump()
    trash.unshift(() => next.stop({ graceMs: 0 }))
    await Promise.all(receivers.map((receiver) => receiver.received(2)))
    expect(receivers.map((receiver) => receiver.open())).toEqual([2, 2])
  })

  it.each<[what: string, endpoints: number, events: number]>([
    ['more endpoints than start in one turn', 9, 1],
    ['more deliveries of an endpoint than its share of a turn', 2, 8],
  ])('all start although no receiver responds: %s', async (_what, endpoints, events) => {
    const setup = await open({ timeoutMs: 600_000, limits: { slowAfterMs: 600_000 } })
    const receiver = await receive('hang')
    await setup.register(`${receiver.url}alone`, ['check.created'])
    for (let number = 1; number < endpoints; number++) await setup.register(`${receiver.url}${number}`)
    await setup.pump.stop({ graceMs: 0 })
    await setup.announce('alone', 'check.created')
    for (let made = 0; made < events; made++) await setup.announce()
    const next = setup.startPump()
    trash.unshift(() => next.stop({ graceMs: 0 }))
    await receiver.received(1 + (endpoints - 1) * events)
  })

  it('to a receiver that hangs delay no other endpoint, even when they fill all slots', async () => {
    const setup = await open({ limits: { inAll: 8, slowAfterMs: 20 } })
    const [hanging, healthy] = [await receive('hang'), await receive()]
    await setup.register(hanging.url, ['check.created'])
    await setup.register(healthy.url, ['check.updated'])
    for (let made = 0; made < 20; made++) await setup.announce('stuck', 'check.created')
    await hanging.received(8)
    for (let made = 0; made < 20; made++) await setup.announce('well')
    await healthy.received(20)
    expect(hanging.requests).toHaveLength(8)
  })

  it('in flight are not attempted a second time when the pump wakes', async () => {
    const setup = await open()
    const receiver = await receiveByHand()
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    const { id } = await setup.delivery()
    setup.pump.wake()
    const attempts = [setup.pump.attempt(id), setup.pump.attempt(id)]
    receiver.answer()
    for (const delivery of await Promise.all(attempts))
      expect(delivery).toMatchObject({ status: 'delivered' })
    expect(await setup.pump.attempt(id)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('a ping', () => {
  it('is attempted at once, past a full queue, and resolves with the recorded delivery', async () => {
    const setup = await open()
    const receiver = await receive('hang')
    const { id } = await setup.register(receiver.url)
    for (let made = 0; made < 10; made++) await setup.announce()
    await receiver.received(8)
    receiver.answer(200)
    const pinged = await setup.pump.attempt((await setup.ping(id)).id)
    expect(pinged).toMatchObject({
      status: 'delivered',
      event_type: 'ping',
      attempts: [{ response_status: 200 }],
    })
    expect(JSON.parse(receiver.requests[8]?.body.toString() ?? '')).toMatchObject({
      type: 'ping',
      data: { id },
    })
    expect(receiver.requests[8]?.body.toString()).not.toContain('whsec_')
  })

  it('that fails is not retried and does not count against the endpoint', async () => {
    const setup = await open({ disableAfter: 1 })
    const receiver = await receive(500)
    const { id } = await setup.register(receiver.url)
    const pinged = await setup.pump.attempt((await setup.ping(id)).id)
    expect(pinged).toMatchObject({
      status: 'dead',
      dead_reason: 'exhausted',
      attempts: [{ outcome: 'bad_status' }],
    })
    setup.clock.advance(48 * HOUR)
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(1)
    expect(await setup.endpoint(id)).toMatchObject({ status: 'enabled', consecutive_failures: 0 })
  })

  it('of an unknown delivery is not found', async () => {
    const setup = await open()
    await expect(setup.pump.attempt('dlv_none')).rejects.toMatchObject({ code: 'not_found' })
  })
})

/** A service whose writes fail with `error`, a full disk by default, while `failing()` is true. */
function failingStorage(
  failing: () => boolean,
  error: Error = new Refusal('storage_unavailable', 'no room'),
) {
  return (service: Service): Service => ({
    ...service,
    execute: (operation, command) =>
      failing() ? Promise.reject(error) : service.execute(operation, command),
  })
}

describe('an attempt whose outcome cannot be recorded', () => {
  it('is recorded after a backoff, without another request', async () => {
    let failures = 2
    const setup = await open({ wrap: failingStorage(() => failures-- > 0), limits: { backoffMs: 1 } })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await expect
      .poll(() => setup.delivery())
      .toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
    expect(receiver.requests).toHaveLength(1)
    expect(setup.errors).toMatchObject([{ code: 'storage_unavailable' }, { code: 'storage_unavailable' }])
  })

  it('is reported to its caller', async () => {
    const setup = await open({ wrap: failingStorage(() => true), limits: { backoffMs: 60_000 } })
    const receiver = await receive()
    const { id } = await setup.register(receiver.url)
    await expect(setup.pump.attempt((await setup.ping(id)).id)).rejects.toMatchObject({
      code: 'storage_unavailable',
    })
    expect(await setup.delivery()).toMatchObject({ status: 'pending', attempts: [] })
  })

  it('is forgotten with the records that it belongs to', async () => {
    let isFull = true
    const setup = await open({ wrap: failingStorage(() => isFull), limits: { backoffMs: 1 } })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await expect.poll(() => setup.errors.length).toBeGreaterThan(0)
    await setup.pump.interrupt(() => setup.service.replace((all) => all))
    isFull = false
    await receiver.received(2)
    await expect
      .poll(() => setup.delivery())
      .toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
  })

  it('is recorded at once when the store accepts another write', async () => {
    let isFull = true
    const setup = await open({ wrap: failingStorage(() => isFull), limits: { backoffMs: 60_000 } })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce('one')
    await setup.pump.idle()
    isFull = false
    await setup.announce('two')
    await receiver.received(2)
    await expect
      .poll(() => setup.deliveries())
      .toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
    expect(receiver.requests).toHaveLength(2)
  }, 10_000)

  it('keeps its backoff when the store did not fail', async () => {
    let failures = 1
    const bug = new Error('a bug')
    const setup = await open({
      wrap: failingStorage(() => failures-- > 0, bug),
      limits: { backoffMs: 60_000 },
    })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce('one')
    await setup.pump.idle()
    await setup.announce('two')
    await setup.pump.idle()
    expect(await setup.deliveries()).toMatchObject([{ status: 'pending' }, { status: 'delivered' }])
    expect(receiver.requests).toHaveLength(2)
  })

  it('does not keep the pump from being idle during its backoff', async () => {
    const setup = await open({ wrap: failingStorage(() => true), limits: { backoffMs: 60_000 } })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('a delivery that is deleted before its attempt ends', () => {
  it('is not reported as an error', async () => {
    const setup = await open()
    const receiver = await receiveByHand()
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    const { id } = await setup.delivery()
    await setup.forget(id)
    receiver.answer()
    await setup.pump.idle()
    expect(setup.errors).toEqual([])
  })

  it('is not attempted when it is deleted with its event before the event is read', async () => {
    const setup = await open({
      wrap: (service) => ({
        ...service,
        async get(kind, id) {
          if (kind !== 'events') return service.get(kind, id)
          await setup.forget((await setup.delivery()).id)
          return undefined
        },
      }),
    })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await setup.pump.idle()
    expect(receiver.requests).toEqual([])
    expect(setup.errors).toEqual([])
  })
})

describe('a store that cannot be read', () => {
  it('is read again after a backoff, and the error reaches waiting callers', async () => {
    let failures = 2
    const broken = (service: Service): Service => ({
      ...service,
      due: (query) =>
        failures-- > 0 ? Promise.reject(new Refusal('storage_unavailable', 'no disk')) : service.due(query),
    })
    const setup = await open({ wrap: broken, limits: { backoffMs: 1 } })
    await expect(setup.pump.idle()).rejects.toMatchObject({ code: 'storage_unavailable' })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    await setup.pump.idle()
    expect(setup.errors).toHaveLength(2)
  })

  it('is read again at once after a write succeeds', async () => {
    let isBroken = false
    const broken = (service: Service): Service => ({
      ...service,
      due: (query) =>
        isBroken ? Promise.reject(new Refusal('storage_unavailable', 'no disk')) : service.due(query),
    })
    const setup = await open({ wrap: broken, limits: { backoffMs: 60_000 } })
    const receiver = await receive()
    await setup.pump.stop({ graceMs: 0 })
    await setup.register(receiver.url)
    await setup.announce()
    isBroken = true
    const next = setup.startPump()
    trash.unshift(() => next.stop({ graceMs: 0 }))
    await expect(next.idle()).rejects.toMatchObject({ code: 'storage_unavailable' })
    isBroken = false
    await setup.register(receiver.url, ['check.closed'])
    await receiver.received(1)
  }, 10_000)
})

test('a retry is made at its time, although a later one was planned before', async () => {
  const setup = await open()
  const receiver = await receive(500)
  await setup.register(receiver.url)
  await setup.announce('retried in a minute, then in five')
  await receiver.received(1)
  await setup.pump.idle()
  setup.clock.advance(MINUTE)
  await receiver.received(2)
  await setup.pump.idle()
  await setup.announce('retried in a minute')
  await receiver.received(3)
  await setup.pump.idle()
  setup.clock.advance(MINUTE)
  await receiver.received(4)
})

describe('a retry that an unwritten transaction removes', () => {
  it('is made at its time when that transaction is undone', async () => {
    let isHidden = false
    let looked = () => {}
    const setup = await open({
      wrap: (service) => ({
        ...service,
        async due(query) {
          const due = await service.due(query)
          looked()
          return isHidden ? { deliveries: [], next_at: null, more: false } : due
        },
      }),
    })
    const receiver = await receive(500)
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    await setup.pump.idle()
    isHidden = true
    const look = new Promise<void>((resolve) => (looked = resolve))
    setup.pump.wake()
    await look
    await setup.pump.idle()
    isHidden = false
    setup.clock.advance(MINUTE)
    await receiver.received(2)
  })
})

describe('a read of due deliveries that an exclusive section overtakes', () => {
  it('starts none of the deliveries that it read, which may have changed', async () => {
    let arrived = () => {}
    let release = () => {}
    const seen = new Promise<void>((resolve) => (arrived = resolve))
    const gate = new Promise<void>((resolve) => (release = resolve))
    const slow = (service: Service): Service => ({
      ...service,
      async due(query) {
        const found = await service.due(query)
        if (found.deliveries.length === 0) return found
        arrived()
        await gate
        return found
      },
    })
    const setup = await open({ wrap: slow })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await seen
    const due = new Date(setup.clock.now().getTime() + HOUR).toISOString()
    const postpone = {
      reads: () => ({}),
      decide: (_records, delivery) => ({
        reply: undefined,
        writes: [put('deliveries', { ...delivery, next_attempt_at: due })],
        events: [],
      }),
    } satisfies Operation<Delivery, NoReads, undefined>
    const delivery = await setup.delivery()
    await setup.pump.interrupt(() => setup.service.execute(postpone, delivery))
    const idle = setup.pump.idle()
    release()
    expect(await idle).toEqual({ next_at: due, unrecorded: 0 })
    expect(receiver.requests).toHaveLength(0)
    setup.clock.advance(HOUR)
    await receiver.received(1)
  })
})

describe('a wait for deliveries', () => {
  it('includes one that is created within its first second, and none that is created later', async () => {
    const setup = await open()
    const [existing, soon, later] = [await receiveByHand(), await receiveByHand(), await receiveByHand()]
    await setup.register(existing.url, ['check.created'])
    await setup.register(soon.url, ['check.updated'])
    await setup.register(later.url, ['check.closed'])
    await setup.announce('existing', 'check.created')
    await existing.received(1)
    let elapsed = 0
    vi.spyOn(timers, 'elapsed').mockImplementation(() => elapsed)
    const wait = await setup.pump.backlog()
    let isSettled = false
    const settled = wait.settle().finally(() => (isSettled = true))
    elapsed = 999
    await setup.announce('soon')
    elapsed = 1_000
    await setup.announce('later', 'check.closed')
    await Promise.all([soon.received(1), later.received(1)])
    expect(wait.inFlight()).toHaveLength(2)
    existing.answer()
    await expect.poll(() => wait.inFlight()).toHaveLength(1)
    expect(isSettled).toBe(false)
    soon.answer()
    expect(await settled).toEqual({ next_at: null, unrecorded: 0 })
    expect(later.open()).toBe(1)
    wait.end()
    later.answer()
  })

  it('includes one that is created within the first second of a later step of a move', async () => {
    const setup = await open()
    const receiver = await receiveByHand()
    await setup.register(receiver.url)
    let elapsed = 0
    vi.spyOn(timers, 'elapsed').mockImplementation(() => elapsed)
    const wait = await setup.pump.backlog()
    await wait.settle()
    elapsed = 5_000
    const settled = wait.settle()
    await setup.announce()
    await receiver.received(1)
    expect(wait.inFlight()).toHaveLength(1)
    receiver.answer()
    await settled
    wait.end()
  })

  it('counts a created delivery once, however often it is written, and knows the newest', async () => {
    const setup = await open()
    const [fails, slow] = [await receive(500), await receiveByHand()]
    await setup.register(fails.url)
    await setup.register(slow.url)
    let elapsed = 0
    vi.spyOn(timers, 'elapsed').mockImplementation(() => elapsed)
    const wait = await setup.pump.backlog()
    await wait.settle()
    elapsed = 5_000
    // The older of two deliveries is written again when its attempt fails.
    await setup.announce()
    await slow.received(1)
    await expect.poll(async () => (await setup.deliveries())[0]?.attempts).toHaveLength(1)
    const settled = wait.settle()
    expect(wait.inFlight()).toHaveLength(1)
    slow.answer()
    await settled
    wait.end()
  })

  it.each([
    ['one second', 'slow', 0, 1_000],
    ['three seconds', 'quick', 60_000, 3_000],
  ])(
    'ends after %s for an endpoint that keeps getting deliveries and is %s',
    async (_time, _is, slowAfterMs, longest) => {
      let looks = 0
      const wrap = (service: Service): Service => ({
        ...service,
        unfinished: (query) => service.unfinished(query).finally(() => (looks += 1)),
      })
      const setup = await open({ wrap, limits: { slowAfterMs } })
      const receiver = await receiveByHand()
      await setup.register(receiver.url)
      await setup.announce('existing')
      await receiver.received(1)
      let elapsed = 0
      vi.spyOn(timers, 'elapsed').mockImplementation(() => elapsed)
      let tick = () => {}
      vi.spyOn(timers, 'setInterval').mockImplementation((task) => {
        tick = task
        return setTimeout(() => {})
      })
      const wait = await setup.pump.backlog()
      const settled = wait.settle()
      elapsed = 1_000
      for (let count = 0; count < 5; count += 1) await setup.announce(`further-${count}`)
      await receiver.received(6)
      for (let waited = 100; waited < longest; waited += 100) tick()
      const before = looks
      setup.pump.wake()
      if (longest > 1_000) await expect.poll(() => looks).toBeGreaterThan(before)
      expect(wait.inFlight()).toHaveLength(1)
      tick()
      expect(await settled).toEqual({ next_at: null, unrecorded: 0 })
      expect(wait.inFlight()).toEqual([])
      wait.end()
      receiver.answer()
    },
  )

  it('includes a hundred that are created after its first second, and no more, so that every move ends', async () => {
    const setup = await open()
    const [quick, last, further] = [await receive(), await receiveByHand(), await receiveByHand()]
    await setup.register(quick.url, ['check.created'])
    await setup.register(last.url, ['check.updated'])
    await setup.register(further.url, ['check.closed'])
    let elapsed = 0
    vi.spyOn(timers, 'elapsed').mockImplementation(() => elapsed)
    const wait = await setup.pump.backlog()
    elapsed = 5_000
    for (let count = 0; count < 99; count += 1) await setup.announce(`quick-${count}`, 'check.created')
    await wait.settle()
    await setup.announce('hundredth', 'check.updated')
    await setup.announce('further', 'check.closed')
    await Promise.all([last.received(1), further.received(1)])
    const settled = wait.settle()
    expect(wait.inFlight()).toHaveLength(1)
    last.answer()
    await settled
    expect(further.open()).toBe(1)
    wait.end()
    further.answer()
  })
})

describe('stopping', () => {
  it('waits for attempts in flight and records them', async () => {
    const setup = await open()
    const receiver = await receiveByHand()
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    const stopped = setup.pump.stop({ graceMs: 60_000 })
    receiver.answer()
    await stopped
    expect(await setup.delivery()).toMatchObject({ status: 'delivered' })
  })

  it('aborts hanging attempts after the grace period, unrecorded, and the next run repeats them', async () => {
    const setup = await open()
    const receiver = await receive('hang')
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    const { id } = await setup.delivery()
    const asked = expect(setup.pump.attempt(id)).rejects.toMatchObject({ code: 'shutting_down' })
    const idle = setup.pump.idle()
    await setup.pump.stop({ graceMs: 1 })
    await asked
    await idle
    expect(await setup.delivery()).toMatchObject({ status: 'pending', attempts: [] })
    expect(setup.errors).toEqual([])
    receiver.answer(200)
    const next = setup.startPump()
    trash.unshift(() => next.stop({ graceMs: 0 }))
    await next.idle()
    expect(await setup.delivery()).toMatchObject({ status: 'delivered' })
  })

  it('is final: nothing is attempted, awaited or scheduled afterwards', async () => {
    const setup = await open()
    const receiver = await receive(500)
    await setup.register(receiver.url)
    await setup.announce()
    await setup.pump.idle()
    expect(setup.clock.waiting()).toBe(1)
    await setup.pump.stop({ graceMs: 0 })
    expect(setup.clock.waiting()).toBe(0)
    setup.clock.advance(HOUR)
    await setup.announce()
    setup.pump.wake()
    await setup.pump.idle()
    await expect(setup.pump.attempt((await setup.delivery()).id)).rejects.toMatchObject({
      code: 'shutting_down',
    })
    await setup.pump.stop({ graceMs: 0 })
    expect(receiver.requests).toHaveLength(1)
  })
})
