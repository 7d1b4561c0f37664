import { afterEach, describe, expect, it } from 'vitest'
import type { Receiver } from '../support/https-receiver.ts'
import { HOUR, MINUTE, openSetup, trustedReceiver, type Setup } from './setup.ts'

describe('an endpoint', () => {
  let setup: Setup
  let receiver: Receiver

  async function announce(times: number) {
    for (let made = 0; made < times; made++) {
      await setup.announce()
      await setup.pump.idle()
    }
  }

  afterEach(async () => {
    await setup.close()
    await receiver.close()
    expect(setup.errors).toEqual([])
  })

  it('is disabled by ten distinct consecutive failing deliveries; pending ones become dead, and nothing more is sent', async () => {
    setup = await openSetup()
    receiver = await trustedReceiver(500)
    const { id } = await setup.register(receiver.url)
    await announce(9)
    expect(await setup.endpoint(id)).toMatchObject({ status: 'enabled', consecutive_failures: 9 })
    await announce(1)
    expect(await setup.endpoint(id)).toMatchObject({
      status: 'disabled',
      disabled_at: '2026-11-21T18:00:00.000Z',
      disabled_reason: '10 consecutive deliveries failed',
    })
    for (const delivery of await setup.deliveries())
      expect(delivery).toMatchObject({
        status: 'dead',
        dead_reason: 'endpoint_disabled',
        next_attempt_at: null,
      })
    await announce(1)
    setup.clock.advance(48 * HOUR)
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(10)
    expect(await setup.deliveries()).toHaveLength(10)
  })

  it('counts a retried delivery once', async () => {
    setup = await openSetup()
    receiver = await trustedReceiver(500)
    const { id } = await setup.register(receiver.url)
    await announce(1)
    for (const wait of [MINUTE, 5 * MINUTE, 30 * MINUTE]) {
      setup.clock.advance(wait)
      await setup.pump.idle()
    }
    expect(receiver.requests).toHaveLength(4)
    expect(await setup.endpoint(id)).toMatchObject({ consecutive_failures: 1 })
  })

  it('restarts the count after any 2xx', async () => {
    setup = await openSetup()
    receiver = await trustedReceiver(500)
    const { id } = await setup.register(receiver.url)
    await announce(9)
    receiver.answer(200)
    await announce(1)
    receiver.answer(500)
    await announce(9)
    expect(await setup.endpoint(id)).toMatchObject({ status: 'enabled', consecutive_failures: 9 })
  })

  it('is never disabled with --disable-after 0', async () => {
    setup = await openSetup({ disableAfter: 0 })
    receiver = await trustedReceiver(500)
    const { id } = await setup.register(receiver.url)
    await announce(12)
    expect(await setup.endpoint(id)).toMatchObject({ status: 'enabled' })
  })

  it.each([
    ['succeed', 200, { status: 'delivered', dead_reason: null, next_attempt_at: null }],
    ['fail', 503, { status: 'dead', dead_reason: 'endpoint_disabled', next_attempt_at: null }],
  ])(
    'that is disabled meanwhile has its attempts in flight recorded, which %s',
    async (_how, status, end) => {
      setup = await openSetup({ disableAfter: 1 })
      receiver = await trustedReceiver()
      const { id } = await setup.register(receiver.url)
      let answerLate = (): void => undefined
      receiver.answer((response, _received, index) => {
        if (index === 0) void receiver.received(2).then(() => response.writeHead(500).end())
        else answerLate = () => response.writeHead(status).end()
      })
      await setup.announce()
      await setup.announce()
      await expect.poll(async () => (await setup.endpoint(id))?.status, { timeout: 10_000 }).toBe('disabled')
      answerLate()
      await setup.pump.idle()
      const deliveries = await setup.deliveries()
      const second = deliveries.find(({ attempts }) => attempts[0]?.response_status === status)
      expect(second).toMatchObject(end)
      expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1, 1])
    },
  )

  it('that is deleted before a delivery is due gets nothing, and the delivery is dead', async () => {
    setup = await openSetup()
    receiver = await trustedReceiver(500)
    const { id } = await setup.register(receiver.url)
    await announce(1)
    await setup.remove(id)
    setup.clock.advance(48 * HOUR)
    await setup.pump.idle()
    expect(receiver.requests).toHaveLength(1)
    expect(await setup.delivery()).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled' })
  })

  it('gets no delivery whose event is lost', async () => {
    setup = await openSetup()
    receiver = await trustedReceiver()
    await setup.register(receiver.url)
    await setup.pump.interrupt(async () => {
      await setup.announce()
      await setup.forgetEvent((await setup.delivery()).event_id)
    })
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({
      status: 'dead',
      attempts: [],
      endpoint_url: receiver.url,
    })
    expect(receiver.requests).toEqual([])
  })
})
