import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { globalClock } from '../../src/clock.ts'
import { createDeliver } from '../../src/delivery/deliver.ts'
import { createDestinationPolicy } from '../../src/delivery/destination/policy.ts'
import { createInProcessReceivers } from '../../src/delivery/send/in-process.ts'
import { createOffers } from '../../src/delivery/send/offers.ts'
import { createSender } from '../../src/delivery/send/send.ts'
import type { Slots } from '../../src/delivery/slots.ts'
import { NotOwner } from '../../src/delivery/slots.ts'
import type { Service } from '../../src/service.ts'
import { timers } from '../../src/timers.ts'
import type { Receiver } from '../support/https-receiver.ts'
import { MINUTE, openSetup, trustedReceiver, type Setup } from './setup.ts'

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

/** Slots as the test says. A permit is valid for the first `checks` questions. */
function slotsByHand({ owns = true, checks = Infinity } = {}) {
  const listeners = new Set<() => void>()
  const state = { owns, checks, asked: 0, begun: 0, ended: 0, closed: false }
  const slots: Slots = {
    owns: () => state.owns,
    begin() {
      state.asked += 1
      if (!state.owns) return undefined
      state.begun += 1
      return { isValid: () => state.checks-- > 0, end: () => void (state.ended += 1) }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close() {
      state.closed = true
    },
  }
  const change = (next: Partial<typeof state>) => {
    Object.assign(state, next)
    for (const listener of listeners) listener()
  }
  return { slots, state, change }
}

/** Counts the looks of the pump for due deliveries. */
function countingLooks() {
  const looks = { ended: 0 }
  const wrap = (service: Service): Service => ({
    ...service,
    due: (query) => service.due(query).finally(() => (looks.ended += 1)),
  })
  return { looks, wrap }
}

describe('an endpoint of another instance', () => {
  it('gets no attempt until this instance may begin one', async () => {
    const { slots, state, change } = slotsByHand({ owns: false })
    const { looks, wrap } = countingLooks()
    const [setup, receiver] = [await open({ slots, wrap }), await receive()]
    await setup.register(receiver.url)
    await setup.announce()
    await setup.announce()
    // The first of two looks may have begun before the deliveries existed.
    for (let look = 0; look < 2; look += 1) {
      const before = looks.ended
      setup.pump.wake()
      await expect.poll(() => looks.ended).toBeGreaterThan(before)
    }
    expect(receiver.requests).toHaveLength(0)
    expect(state.asked).toBe(0)
    change({ owns: true })
    await receiver.received(2)
    await setup.pump.idle()
    expect(state).toMatchObject({ begun: 2, ended: 2 })
    await setup.pump.stop({ graceMs: 0 })
    expect(state.closed).toBe(true)
  })

  it.each([
    ['when the delivery was read', 0],
    ['when the message was composed', 1],
    ['when its request is about to be written', 2],
  ])('gets no request when the lease is too short %s', async (_when, checks) => {
    const { slots, state, change } = slotsByHand({ checks })
    const [setup, receiver] = [await open({ slots }), await receive()]
    await setup.register(receiver.url)
    await setup.announce()
    await expect.poll(() => state.ended).toBeGreaterThanOrEqual(1)
    change({ owns: false })
    await expect.poll(() => state.ended).toBe(state.begun)
    expect(receiver.requests).toHaveLength(0)
    expect(setup.errors).toEqual([])
    expect(await setup.delivery()).toMatchObject({ status: 'pending', attempts: [] })
    change({ owns: true, checks: Infinity })
    await receiver.received(1)
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
  })

  it('gets no request in this process, either', async () => {
    let received = 0
    const receivers = createInProcessReceivers()
    receivers.add('https://shop.example/', () => {
      received += 1
      return new Response()
    })
    const policy = createDestinationPolicy({
      allowHttpLoopback: false,
      denyPrivate: false,
      own: {},
    })
    const sender = createSender({ policy, trust: { ca: [], insecure: false }, receivers })
    const message = { url: 'https://shop.example/', headers: {}, body: '{}' }
    await expect(sender.send(message, { mayBegin: () => false })).rejects.toBeInstanceOf(NotOwner)
    expect(received).toBe(0)
  })

  it('uses up no fault', async () => {
    const [setup, receiver] = [await open(), await receive()]
    await setup.pump.stop({ graceMs: 0 })
    await setup.register(receiver.url)
    await setup.announce()
    let planned = 0
    const deliver = createDeliver({
      offers: createOffers({ service: setup.service }),
      ...{ service: setup.service, sender: setup.sender, clock: setup.clock, signClock: globalClock },
      ...{ serviceName: 'Acme', disableAfter: 10 },
      faults: {
        planFor: () => void (planned += 1),
        hold: async () => undefined,
        releaseOvertaken: () => undefined,
      },
    })
    await expect(deliver(await setup.delivery(), { mayBegin: () => false })).rejects.toBeInstanceOf(NotOwner)
    expect(planned).toBe(0)
  })

  it('keeps the permit until the outcome is recorded', async () => {
    const { slots, state } = slotsByHand()
    let record = () => {}
    let isRecording = false
    const recorded = new Promise<void>((resolve) => (record = resolve))
    const setup = await open({
      slots,
      wrap: (service) => ({
        ...service,
        async execute(operation, command) {
          if (typeof command === 'object' && command !== null && 'retry_in_ms' in command) {
            isRecording = true
            await recorded
          }
          return service.execute(operation, command)
        },
      }),
    })
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.announce()
    await expect.poll(() => isRecording).toBe(true)
    expect(state).toMatchObject({ begun: 1, ended: 0 })
    record()
    await setup.pump.idle()
    expect(state).toMatchObject({ begun: 1, ended: 1 })
  })

  it('is left to the others after its attempt was aborted, before the pump has stopped', async () => {
    const { slots, state } = slotsByHand()
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const leaving: Slots = {
      ...slots,
      begin(endpoint) {
        const permit = slots.begin(endpoint)
        return permit && { ...permit, end }
      },
      async close() {
        await ended
        // The statement that leaves them takes a moment.
        await timers.sleep(20)
        state.closed = true
      },
    }
    const setup = await open({ slots: leaving, timeoutMs: 600_000 })
    const receiver = await receive('hang')
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    await setup.pump.stop({ graceMs: 10 })
    expect(state.closed).toBe(true)
  })

  it('counts as unsettled until the other instance has recorded the attempt', async () => {
    const { slots } = slotsByHand({ owns: false })
    let looks = 0
    const wrap = (service: Service): Service => ({
      ...service,
      unfinished: (query) => service.unfinished(query).finally(() => (looks += 1)),
    })
    const [setup, receiver] = [await open({ slots, wrap }), await receive()]
    await setup.register(receiver.url)
    await setup.announce()
    let isIdle = false
    const idle = setup.pump.idle().then((settled) => {
      isIdle = true
      return settled
    })
    // The first look, and the two that a second later skip endpoints with steady traffic.
    await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    expect(isIdle).toBe(false)
    // As another instance does.
    await setup.deliver(await setup.delivery())
    expect(await idle).toEqual({ next_at: null, unrecorded: 0 })
  })
})

describe('a delivery that another instance has attempted meanwhile', () => {
  it('is not attempted before it is due', async () => {
    let stale: Awaited<ReturnType<Setup['service']['due']>> | undefined
    const { slots, state, change } = slotsByHand({ owns: false })
    const setup = await open({
      slots,
      wrap: (service) => ({ ...service, due: async (query) => stale ?? service.due(query) }),
    })
    const receiver = await receive(500)
    await setup.register(receiver.url)
    await setup.announce()
    const before = await setup.delivery()
    await setup.deliver(before)
    stale = { deliveries: [before], more: false, next_at: null }
    change({ owns: true })
    setup.pump.wake()
    // It is chosen again and again, as long as it reads as due.
    await expect.poll(() => state.ended).toBeGreaterThan(3)
    expect(receiver.requests).toHaveLength(1)
    stale = undefined
    setup.clock.advance(MINUTE)
    setup.pump.wake()
    await receiver.received(2)
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(2)
  })

  it('is recorded once, so that the retry schedule is exact', async () => {
    const setup = await open()
    const open_ = new Set<ServerResponse>()
    const receiver = await receive((response) => void open_.add(response))
    await setup.pump.stop({ graceMs: 0 })
    await setup.register(receiver.url)
    await setup.announce()
    const delivery = await setup.delivery()
    const attempts = [setup.deliver(delivery), setup.deliver(delivery)]
    await receiver.received(2)
    for (const response of open_) response.writeHead(500).end()
    await Promise.all(attempts)
    const { attempts: recorded, next_attempt_at } = await setup.delivery()
    expect(recorded).toHaveLength(1)
    expect(next_attempt_at).toBe(new Date(setup.clock.now().getTime() + MINUTE).toISOString())
  })

  it('is not recorded after all records were replaced, even by the same ones', async () => {
    const setup = await open()
    const open_ = new Set<ServerResponse>()
    const receiver = await receive((response) => void open_.add(response))
    await setup.pump.stop({ graceMs: 0 })
    await setup.register(receiver.url)
    await setup.announce()
    const attempted = setup.deliver(await setup.delivery())
    await receiver.received(1)
    await setup.service.replace((all) => all)
    for (const response of open_) response.writeHead(200).end()
    await expect(attempted).rejects.toMatchObject({ code: 'not_found' })
    expect(await setup.delivery()).toMatchObject({ status: 'pending', attempts: [] })
  })
})

describe('a replacement by another instance', () => {
  it('aborts the attempts in flight, and attempts the deliveries of the new records', async () => {
    const setup = await open({ timeoutMs: 600_000 })
    const receiver = await receive('hang')
    await setup.register(receiver.url)
    await setup.announce()
    await receiver.received(1)
    receiver.answer(200)
    // Not by `interrupt`, as a replacement of this instance is.
    await setup.service.replace((all) => all)
    await receiver.received(2)
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
    expect(setup.errors).toEqual([])
  })

  it('without deliveries ends a wait for the earlier ones', async () => {
    const { slots } = slotsByHand({ owns: false })
    let look = () => {}
    const looked = new Promise<void>((resolve) => (look = resolve))
    const wrap = (service: Service): Service => ({
      ...service,
      async unfinished(query) {
        const found = await service.unfinished(query)
        look()
        return found
      },
    })
    const [setup, receiver] = [await open({ slots, wrap }), await receive()]
    await setup.register(receiver.url)
    await setup.announce()
    const wait = await setup.pump.backlog()
    // Without the look after a second.
    vi.spyOn(timers, 'setInterval').mockImplementation(() => setTimeout(() => {}))
    const settled = wait.settle()
    await looked
    await setup.service.replace((all) => ({ ...all, deliveries: [] }))
    expect(await settled).toEqual({ next_at: null, unrecorded: 0 })
    wait.end()
  })

  it('is not confused with one of this instance', async () => {
    const setup = await open()
    const receiver = await receive()
    await setup.register(receiver.url)
    await setup.pump.interrupt(() => setup.service.replace((all) => all))
    await setup.announce()
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('an attempt at once to an endpoint of another instance', () => {
  it('resolves with the attempt of that instance', async () => {
    const { slots } = slotsByHand({ owns: false })
    const [setup, receiver] = [await open({ slots }), await receive()]
    const { id: endpoint } = await setup.register(receiver.url)
    const { id } = await setup.ping(endpoint)
    const attempted = setup.pump.attempt(id)
    await setup.deliver(await setup.delivery())
    expect(await attempted).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] })
    expect(receiver.requests).toHaveLength(1)
  })

  it('is made by the queue when this instance becomes the owner', async () => {
    const { slots, state, change } = slotsByHand({ owns: false })
    const [setup, receiver] = [await open({ slots }), await receive()]
    const { id: endpoint } = await setup.register(receiver.url)
    const { id } = await setup.ping(endpoint)
    const attempted = setup.pump.attempt(id)
    await expect.poll(() => state.asked).toBe(1)
    change({ owns: true })
    expect(await attempted).toMatchObject({ status: 'delivered' })
  })

  it('is refused when the delivery is removed, and when the service stops', async () => {
    const { slots, state } = slotsByHand({ owns: false })
    const [setup, receiver] = [await open({ slots }), await receive()]
    const { id: endpoint } = await setup.register(receiver.url)
    const [first, second] = [await setup.ping(endpoint), await setup.ping(endpoint)]
    const [removed, stopped] = [setup.pump.attempt(first.id), setup.pump.attempt(second.id)]
    const refusals = Promise.allSettled([removed, stopped])
    await expect.poll(() => state.asked).toBe(2)
    await setup.forget(first.id)
    await setup.pump.stop({ graceMs: 0 })
    expect(await refusals).toMatchObject([
      { reason: { code: 'not_found' } },
      { reason: { code: 'shutting_down' } },
    ])
  })

  it('is refused by the delivery itself', async () => {
    const [setup, receiver] = [await open(), await receive()]
    await setup.pump.stop({ graceMs: 0 })
    const { id: endpoint } = await setup.register(receiver.url)
    const delivery = await setup.ping(endpoint)
    await expect(setup.deliver(delivery, { mayBegin: () => false })).rejects.toBeInstanceOf(NotOwner)
  })
})

describe('a ping that another instance was asked for', () => {
  it('is attempted at once, past a full queue', async () => {
    const setup = await open({ timeoutMs: 600_000 })
    const receiver = await receive('hang')
    const { id } = await setup.register(receiver.url)
    for (let made = 0; made < 12; made += 1) await setup.announce()
    await receiver.received(8)
    await setup.ping(id)
    await receiver.received(9)
  })
})
