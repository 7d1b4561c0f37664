import { afterEach, describe, expect, it } from 'vitest'
import type { Receiver } from '../support/https-receiver.ts'
import { HOUR, MINUTE, openHouse, trustedReceiver, type House } from './setup.ts'

describe('an endpoint', () => {
  let house: House
  let receiver: Receiver

  async function announce(times: number) {
    for (let made = 0; made < times; made++) {
      await house.announce()
      await house.pump.idle()
    }
  }

  afterEach(async () => {
    await house.close()
    await receiver.close()
    expect(house.errors).toEqual([])
  })

  it('DEL-10 is disabled by ten distinct deliveries in a row that fail, what is pending is dead, and nothing more is sent', async () => {
    house = await openHouse()
    receiver = await trustedReceiver(500)
    const { id } = await house.register(receiver.url)
    await announce(9)
    expect(await house.endpoint(id)).toMatchObject({ status: 'enabled', consecutive_failures: 9 })
    await announce(1)
    expect(await house.endpoint(id)).toMatchObject({
      status: 'disabled',
      disabled_at: '2026-11-21T18:00:00.000Z',
      disabled_reason: '10 deliveries in a row failed',
    })
    for (const delivery of await house.deliveries())
      expect(delivery).toMatchObject({
        status: 'dead',
        dead_reason: 'endpoint_disabled',
        next_attempt_at: null,
      })
    await announce(1)
    house.clock.advance(48 * HOUR)
    await house.pump.idle()
    expect(receiver.requests).toHaveLength(10)
    expect(await house.deliveries()).toHaveLength(10)
  })

  it('counts a delivery once, however often it is retried', async () => {
    house = await openHouse()
    receiver = await trustedReceiver(500)
    const { id } = await house.register(receiver.url)
    await announce(1)
    for (const wait of [MINUTE, 5 * MINUTE, 30 * MINUTE]) {
      house.clock.advance(wait)
      await house.pump.idle()
    }
    expect(receiver.requests).toHaveLength(4)
    expect(await house.endpoint(id)).toMatchObject({ consecutive_failures: 1 })
  })

  it('DEL-11 counts anew after any 2xx', async () => {
    house = await openHouse()
    receiver = await trustedReceiver(500)
    const { id } = await house.register(receiver.url)
    await announce(9)
    receiver.answer(200)
    await announce(1)
    receiver.answer(500)
    await announce(9)
    expect(await house.endpoint(id)).toMatchObject({ status: 'enabled', consecutive_failures: 9 })
  })

  it('is never disabled with --disable-after 0', async () => {
    house = await openHouse({ disableAfter: 0 })
    receiver = await trustedReceiver(500)
    const { id } = await house.register(receiver.url)
    await announce(12)
    expect(await house.endpoint(id)).toMatchObject({ status: 'enabled' })
  })

  it('that is gone when a delivery is due gets nothing, and the delivery is dead', async () => {
    house = await openHouse()
    receiver = await trustedReceiver(500)
    const { id } = await house.register(receiver.url)
    await announce(1)
    await house.remove(id)
    house.clock.advance(48 * HOUR)
    await house.pump.idle()
    expect(receiver.requests).toHaveLength(1)
    expect(await house.delivery()).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled' })
  })
})
