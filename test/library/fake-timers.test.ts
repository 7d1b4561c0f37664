import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
// As it is built: bundled packages keep the real timers by the build.
import { createSimulator, NotDelivered, type Simulator } from 'tabwire'
import { verify } from 'tabwire/signature'
import { timers } from '../../src/timers.ts'
import { check } from '../support/simulator.ts'
import { openHttpServer } from '../support/http-server.ts'

type FakeOptions = NonNullable<Parameters<typeof vi.useFakeTimers>[0]>

/** All but `queueMicrotask` and `nextTick`, without which Node's own `fetch` and sockets hang. */
const everything: FakeOptions['toFake'] = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
  'performance',
  'hrtime',
]

/** The application under test, in this process: refuses the first delivery, and verifies each by the time it knows. */
function createShop() {
  const shop = { secret: '', verified: [] as boolean[] }
  const take = (payload: string, header: string | null | undefined) => {
    shop.verified.push(verify({ payload, header, secret: shop.secret }).ok)
    return shop.verified.length === 1 ? 503 : 204
  }
  return { shop, take }
}

/** Registers a receiver at a URL, pushes a check, and plays the retry. */
async function playRetry(simulator: Simulator, url: string, { shop }: ReturnType<typeof createShop>) {
  shop.secret = (await simulator.endpoints.create({ url })).signing_secret
  await simulator.checks.push('table-12', check())
  await simulator.idle()
  await simulator.checks.push('table-12', check({ status: 'closed' }))
  await simulator.idle()
  await simulator.clock.advance('1m')
  const [delivery] = await simulator.deliveries.waitFor({ type: 'check.created' })
  expect(delivery.attempts.map(({ response_status }) => response_status)).toEqual([503, 204])
  expect(shop.verified).toEqual([true, true, true])
}

describe.each<[string, FakeOptions | undefined]>([
  ["Vitest's default", undefined],
  ['everything', { toFake: everything }],
  ['another time', { now: new Date('2020-02-02T02:02:02.000Z') }],
])('while fake timers replace %s', (_what, options) => {
  afterEach(() => void vi.useRealTimers())

  test('a receiver in this process gets its deliveries and retries', async () => {
    vi.useFakeTimers(options)
    const receiver = createShop()
    const simulator = await createSimulator({ port: false })
    simulator.receive('https://shop.example', async (request) => {
      const status = receiver.take(await request.text(), request.headers.get('x-service-signature'))
      return new Response(null, { status })
    })
    await playRetry(simulator, 'https://shop.example/webhooks', receiver)
    await simulator.close()
  })

  test('a receiver on a port gets them over a reused connection', async () => {
    const receiver = createShop()
    const { url } = await openHttpServer((request, response) => {
      const header = String(request.headers['x-service-signature'])
      void text(request).then((body) => response.writeHead(receiver.take(body, header)).end())
    })
    vi.useFakeTimers(options)
    const simulator = await createSimulator({ allowHttpLoopback: true })
    await playRetry(simulator, `${url}/`, receiver)
    await simulator.close()
  })

  test('timeouts run in real time, and state and reset work', async () => {
    const simulator = await createSimulator({ port: false })
    onTestFinished(() => simulator.close())
    vi.useFakeTimers(options)
    await expect(simulator.deliveries.waitFor({ timeout: 5 })).rejects.toThrow(NotDelivered)
    await simulator.checks.push('table-12', check())
    const state = await simulator.state.save()
    await simulator.reset()
    await simulator.state.load(state)
    expect(await simulator.checks.get('table-12')).toMatchObject({ external_id: 'table-12' })
  })
})

test('the clock of the service shows real time while the clock of the tests is stopped', async () => {
  vi.useFakeTimers({ now: new Date('2020-02-02T02:02:02.000Z') })
  onTestFinished(() => void vi.useRealTimers())
  const simulator = await createSimulator({ port: false })
  onTestFinished(() => simulator.close())
  const { now, offset_ms } = await simulator.clock.show()
  expect(offset_ms).toBe(0)
  expect(now > '2026').toBe(true)
})

test('a rate limit ends in real time, while the clock of the tests is advanced or stopped', async () => {
  vi.useFakeTimers({ now: new Date('2020-02-02T02:02:02.000Z') })
  onTestFinished(() => void vi.useRealTimers())
  const simulator = await createSimulator({ port: false, rateLimit: '1/s' })
  onTestFinished(() => simulator.close())
  await simulator.checks.list()
  vi.advanceTimersByTime(60_000)
  await expect(simulator.checks.list()).rejects.toMatchObject({ code: 'rate_limited' })
  await timers.sleep(1_000)
  expect(await simulator.checks.list()).toMatchObject({ data: [] })
})
