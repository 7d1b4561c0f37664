import { afterEach, describe, expect, it } from 'vitest'
import { verify } from '../../src/signature/verify.ts'
import type { Answer, Receiver } from '../support/https-receiver.ts'
import { HOUR, MINUTE, openSetup, trustedReceiver, type Setup } from './setup.ts'

const waits = [1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 8 * HOUR, 24 * HOUR]

describe('retries', () => {
  let setup: Setup
  let receiver: Receiver

  async function open(answer: Answer) {
    setup = await openSetup()
    receiver = await trustedReceiver(answer)
    return setup.register(receiver.url)
  }

  /** Moves on to the next attempt and waits for its end. */
  async function afterWait(ms: number) {
    setup.clock.advance(ms)
    await setup.pump.idle()
    return setup.delivery()
  }

  afterEach(async () => {
    await setup.close()
    await receiver.close()
    expect(setup.errors).toEqual([])
    expect(setup.clock.waiting()).toBe(0)
  })

  it('come 1 minute after the first failure and 5 minutes after the second, until a 2xx', async () => {
    await open([500, 500, 200])
    await setup.announce()
    expect(await afterWait(0)).toMatchObject({
      status: 'pending',
      next_attempt_at: '2026-11-21T18:01:00.000Z',
    })
    expect(await afterWait(MINUTE - 1)).toMatchObject({ attempts: [{ number: 1 }] })
    expect(await afterWait(1)).toMatchObject({
      status: 'pending',
      next_attempt_at: '2026-11-21T18:06:00.000Z',
    })
    expect(await afterWait(5 * MINUTE)).toMatchObject({
      status: 'delivered',
      next_attempt_at: null,
      dead_reason: null,
      attempts: [
        { number: 1, outcome: 'bad_status', response_status: 500, started_at: '2026-11-21T18:00:00.000Z' },
        { number: 2, outcome: 'bad_status', response_status: 500, started_at: '2026-11-21T18:01:00.000Z' },
        {
          number: 3,
          outcome: 'succeeded',
          response_status: 200,
          started_at: '2026-11-21T18:06:00.000Z',
          error: null,
        },
      ],
    })
    await afterWait(48 * HOUR)
    expect(receiver.requests).toHaveLength(3)
  })

  it('send the same bytes each time, signed with the real time of each attempt', async () => {
    const { signing_secret: secret } = await open([500, 500, 200])
    await setup.announce('Crème brûlée 🍮')
    await afterWait(0)
    await afterWait(MINUTE)
    await afterWait(5 * MINUTE)
    const [event] = (await setup.service.list('events', { limit: 1 })).data
    for (const { body } of receiver.requests) expect(body.toString()).toBe(event?.body)
    const headers = receiver.requests.map(({ headers }) => String(headers['x-acme-signature']))
    expect(headers.map((header) => /^t=(\d+),v1=[0-9a-f]{64}$/.exec(header)?.[1])).toEqual(
      ['1893456000', '1893456001', '1893456002'], // 2030-01-01T00:00:00Z and on: whole seconds, rounded down
    )
    receiver.requests.forEach(({ body: payload }, index) => {
      const result = verify({ payload, secret, header: headers[index], now: setup.realTimes[index] })
      expect(result).toMatchObject({ ok: true })
    })
  })

  it('carry content type, user agent and signature, and no browser headers', async () => {
    await open(200)
    await setup.announce('ü')
    await afterWait(0)
    const [request] = receiver.requests
    expect(request?.method).toBe('POST')
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-acme-signature',
    ])
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Acme-Webhooks/1.0',
      'content-length': String(request?.body.length),
    })
    expect(request?.rawHeaders).toContain('X-Acme-Signature')
  })

  it('end after seven attempts at their exact times, and the delivery is dead', async () => {
    await open(500)
    await setup.announce()
    await afterWait(0)
    for (const wait of waits) {
      await afterWait(wait - 1)
      await afterWait(1)
    }
    const dead = await afterWait(48 * HOUR)
    expect(dead).toMatchObject({ status: 'dead', dead_reason: 'exhausted', next_attempt_at: null })
    const start = Date.parse('2026-11-21T18:00:00.000Z')
    const seconds = dead.attempts.map(({ started_at }) => (Date.parse(started_at) - start) / 1000)
    expect(seconds).toEqual([0, 60, 360, 2160, 9360, 38160, 124560])
    expect(receiver.requests).toHaveLength(7)
  })

  it.each([1, 2, 3, 4, 5, 6])('are over when attempt %i + 1 succeeds', async (failures) => {
    await open([...Array.from({ length: failures }, () => 503), 204])
    await setup.announce()
    await afterWait(0)
    for (const wait of waits) await afterWait(wait)
    expect(await afterWait(48 * HOUR)).toMatchObject({ status: 'delivered' })
    expect(receiver.requests).toHaveLength(failures + 1)
  })

  it('that became due while the service was down are made once at start, and the next backoff starts then', async () => {
    await open(500)
    await setup.announce()
    await afterWait(0)
    await setup.pump.stop({ graceMs: 0 })
    setup.clock.advance(3 * HOUR)
    expect(receiver.requests).toHaveLength(1)
    const next = setup.startPump()
    await next.idle()
    expect(receiver.requests).toHaveLength(2)
    expect(await setup.delivery()).toMatchObject({ next_attempt_at: '2026-11-21T21:05:00.000Z' })
    await next.stop({ graceMs: 0 })
  })
})
