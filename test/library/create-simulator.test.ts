import { readdir } from 'node:fs/promises'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createSimulator,
  NotDelivered,
  TimedOut,
  Unreachable,
  type Simulator,
  type SimulatorOptions,
} from '../../src/index.ts'
import { openReceiver, check, item, temporaryDirectory, testAuthority } from '../support/simulator.ts'

const SHOP = 'https://shop.test/webhooks'

let simulator: Simulator
let answer: () => Response | Promise<Response>
let received: { url: string; headers: Headers; body: string }[]

beforeAll(async () => {
  simulator = await createSimulator({ port: false })
  simulator.receive(SHOP, async (request) => {
    received.push({ url: request.url, headers: request.headers, body: await request.text() })
    return answer()
  })
})
afterAll(() => simulator.close())
beforeEach(async () => {
  await simulator.reset()
  received = []
  answer = () => new Response(null, { status: 204 })
})

async function made(options: SimulatorOptions = {}): Promise<Simulator> {
  const one = await createSimulator(options)
  onTestFinished(() => one.close())
  return one
}

describe('a simulator in this process', () => {
  test('with drain is not ready for a while, and then closes', async () => {
    const one = await made()
    const closing = one.close({ drain: true })
    await expect.poll(async () => (await one.fetch('/_sim/ready')).status).toBe(503)
    await closing
    await expect(one.fetch('/_sim/ready')).rejects.toThrow()
  })

  test('waits without a limit, and refuses a timeout or a count that it cannot use', async () => {
    const one = await made({ port: false })
    one.receive(SHOP)
    await one.endpoints.create({ url: SHOP })
    const coming = one.deliveries.waitFor({ type: 'check.created', timeout: Infinity })
    await one.checks.push('table-12', check())
    expect(await coming).toHaveLength(1)
    await one.idle({ timeout: 2 ** 31 })
    for (const [timeout, got] of [
      [NaN, 'NaN'],
      [-1, '-1'],
      ['4s' as unknown as number, '"4s"'],
    ] as const)
      await expect(one.deliveries.waitFor({ timeout })).rejects.toThrow(
        `timeout must be a number of milliseconds of at least 0, got ${got}.`,
      )
    for (const count of [0, 1.5, '2' as unknown as number])
      await expect(one.deliveries.waitFor({ count })).rejects.toThrow(
        `count must be a whole number of at least 1, got ${JSON.stringify(count)}.`,
      )
    await expect(one.idle({ timeout: NaN })).rejects.toThrow(TypeError)
  })

  test('says why a delivery is missing, even with injected errors and a rate limit', async () => {
    const one = await made({ port: false, rateLimit: '1/h' })
    await one.checks.push('table-12', check())
    await one.faults.set({ faults: [{ on: 'api', error_rate: 1 }] })
    await expect(one.deliveries.waitFor({ type: 'check.created', timeout: 0 })).rejects.toThrow(
      'check.created has occurred, but no enabled webhook endpoint is registered for it.',
    )
  })

  test('has the calls of the service under the names of the commands', async () => {
    const { signing_secret } = await simulator.endpoints.create({ url: SHOP })
    expect(signing_secret).toMatch(/^whsec_/)
    const { status, check: pushed } = await simulator.checks.push(
      'table-12',
      check({ items: [item('burger')] }),
    )
    expect(status).toBe(201)
    const claim = await simulator.guests.claim(pushed, { items: [{ external_id: 'burger', quantity: 1 }] })
    await simulator.guests.release(claim)
    const payment = await simulator.guests.pay(pushed)
    await simulator.guests.refund(payment)
    await simulator.guests.rate(pushed, { rating: 5 })
    await simulator.idle()
    const { data: events } = await simulator.events.list()
    expect(events.map(({ type }) => type).reverse()).toEqual([
      'check.created',
      'claim.created',
      'payment.succeeded',
      'check.fully_paid',
      'payment.refunded',
      'feedback.received',
    ])
    expect(received.map(({ body }) => (JSON.parse(body) as { type: string }).type).sort()).toEqual(
      events.map(({ type }) => type).sort(),
    )
    const { data: requests } = await simulator.requests.list()
    expect(requests.map(({ path }) => path)).toContain('/v1/checks/external/table-12')
  })

  test('retries by its own clock, and reports it', async () => {
    answer = () => new Response('busy', { status: received.length === 1 ? 503 : 200 })
    await simulator.endpoints.create({ url: SHOP, event_types: ['check.created'] })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const report = await simulator.clock.advance('1m')
    expect(report).toMatchObject({ attempted_total: 1, outcomes: { succeeded: 1 } })
    const [delivery] = await simulator.deliveries.waitFor({ check: 'table-12' })
    expect(delivery.attempts).toMatchObject([
      { outcome: 'bad_status', response_body: 'busy' },
      { response_status: 200 },
    ])
    expect(received).toHaveLength(2)
    expect(received[1]?.body).toBe(received[0]?.body)
  })

  test('saves its state as a value and loads it again', async () => {
    await simulator.checks.push('saved', check())
    const state = await simulator.state.save()
    await simulator.reset()
    await expect(simulator.checks.get('saved')).rejects.toMatchObject({ status: 404 })
    await simulator.state.load(state)
    expect(await simulator.checks.get('saved')).toMatchObject({ external_id: 'saved' })
  })

  test('injects faults, also a lost response without a connection', async () => {
    onTestFinished(async () => {
      await simulator.faults.clear()
    })
    await simulator.faults.set({ faults: [{ on: 'api', lost_answer_rate: 1, times: 1 }] })
    await expect(simulator.checks.push('lost', check())).rejects.toThrow('the connection was reset')
    expect(await simulator.checks.push('lost', check())).toMatchObject({ status: 200 })
  })

  test('listens on a free port by default, and several simulators run side by side', async () => {
    const [one, other] = await Promise.all([made(), made({ apiKey: 'twk_mine' })])
    expect(one.url).not.toBe(other.url)
    await one.checks.push('mine', check())
    const headers = { authorization: 'Bearer twk_mine' }
    expect(await (await fetch(`${other.baseUrl}/checks`, { headers })).json()).toMatchObject({ data: [] })
    expect(simulator.url).toBe('http://tabwire.localhost:0')
  })

  test('keeps its records in the data directory', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await createSimulator({ dataDirectory })
    await first.checks.push('kept', check())
    await first.close()
    const again = await made({ dataDirectory, port: false })
    expect(await again.checks.get('kept')).toMatchObject({ external_id: 'kept' })
    expect(await readdir(dataDirectory)).toContain('credentials.json')
  })

  test('gives the same identifiers for the same seed', async () => {
    const push = async () =>
      (await (await made({ seed: 7, port: false })).checks.push('seeded', check())).check
    expect(await push()).toEqual(await push())
  })

  test('reports no negative duration when a reset sets the clock of a seeded run back', async () => {
    const durations: number[] = []
    const onRequest = ({ durationMs }: { durationMs: number }) => durations.push(durationMs)
    await using simulator = await createSimulator({ seed: 7, onRequest })
    await simulator.clock.advance('36h')
    await simulator.reset()
    expect(durations.length).toBeGreaterThan(1)
    expect(Math.min(...durations)).toBeGreaterThanOrEqual(0)
  })

  test('delivers over sockets to a receiver of its own port', async () => {
    const { certificatePem } = await testAuthority()
    const receiver = await openReceiver()
    const one = await made({ port: false, ca: [certificatePem] })
    await one.endpoints.create({ url: receiver.url })
    await one.checks.push('over-tls', check())
    await one.deliveries.waitFor({ type: 'check.created' })
    expect(receiver.requests).toHaveLength(1)
  })

  test('sends only to loopback without a port, and says how to receive other deliveries', async () => {
    const one = await made({ port: false })
    const { id } = await one.endpoints.create({ url: 'https://shop.example:8443/webhooks?a=1' })
    await one.checks.push('table-12', check())
    await one.idle()
    const { data } = await one.deliveries.list({ endpoint_id: id })
    expect(data[0]?.attempts).toMatchObject([
      {
        outcome: 'address_refused',
        error:
          'Not sent to shop.example:8443: the URL must be a loopback address, because this simulator sends to no other. Receive its deliveries with simulator.receive("https://shop.example:8443", handler), or create the simulator with network: \'any\'.',
      },
    ])
    one.receive('https://shop.example:8443', () => new Response())
    await one.clock.advance('1m')
    await one.deliveries.waitFor({ endpoint: id })
  })

  test('closes once, also after several calls of close, and then refuses calls', async () => {
    const one = await createSimulator()
    const { url } = one
    await Promise.all([one.close(), one.close(), one[Symbol.asyncDispose]()])
    await expect(one.locations.list()).rejects.toThrow(Unreachable)
    await expect(one.locations.list()).rejects.toThrow(/the simulator is closed/)
    await expect(fetch(url)).rejects.toThrow()
  })

  test('names the deliveries for which idle waited too long', async () => {
    const one = await made({ port: false })
    let respond = () => {}
    const response = new Promise<Response>((resolve) => (respond = () => resolve(new Response())))
    one.receive(SHOP, () => response)
    await one.endpoints.create({ url: SHOP })
    await one.checks.push('table-12', check())
    const idle = one.idle({ timeout: 100 })
    await expect(idle).rejects.toThrow(TimedOut)
    await expect(idle).rejects.toThrow(
      /^Deliveries were still due or in flight after 0\.1 s\.\n {2}dlv_\w{26} check\.created for check table-12, pending, no response yet$/,
    )
    respond()
  })

  test('says that a call was not awaited when it is closed during the call', async () => {
    const one = await createSimulator({ port: false })
    const push = one.checks.push('table-12', check())
    await one.close()
    await expect(push).rejects.toMatchObject({
      code: 'shutting_down',
      message: expect.stringContaining('Await every call and matcher') as string,
    })
  })

  test('sends bytes of another realm as they are', async () => {
    const one = await made({ port: false })
    const json = new TextEncoder().encode(JSON.stringify(check()))
    const foreign = runInNewContext('Uint8Array.from(bytes)', { bytes: [...json] }) as Uint8Array
    expect(foreign).not.toBeInstanceOf(Uint8Array)
    expect(await one.checks.push('table-12', foreign)).toMatchObject({ status: 201 })
  })

  test('refuses to start where AbortController is not that of Node, as in happy-dom', async () => {
    vi.stubGlobal(
      'AbortController',
      class {
        signal = {}
      },
    )
    try {
      await expect(createSimulator({ port: false })).rejects.toThrow(/@vitest-environment node/)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test.each<[string, (one: Simulator) => unknown, string]>([
    ['a type', (one) => one.deliveries.waitFor('ping' as never), 'options must be an object, got "ping".'],
    ['null', (one) => one.deliveries.none(null as never), 'options must be an object, got null.'],
    [
      'an unknown option',
      (one) => one.idle({ wait: 5 } as never),
      'unknown option "wait". Known options: signal, timeout.',
    ],
    ['a number', (one) => one.events.waitFor('ping', 5 as never), 'options must be an object, got 5.'],
    [
      'an unknown option of close',
      (one) => one.close({ grace: 5 } as never),
      'unknown option "grace". Known options: drain.',
    ],
    [
      'no handler',
      (one) => one.receive(SHOP, 'x' as never),
      'receive() expects a function that returns a Response, got "x".',
    ],
  ])('refuses arguments of a wrong kind: %s', async (_what, call, message) => {
    const one = await made({ port: false })
    await expect(async () => call(one)).rejects.toThrow(new TypeError(message))
  })

  test.each([
    [undefined, 'undefined'],
    [{ status: 200, headers: {} }, '{"status":200,"headers":{}}'],
  ])('names a handler that returns no Response, but %j', async (returned, got) => {
    const one = await made({ port: false })
    one.receive(SHOP, () => returned as never)
    await one.endpoints.create({ url: SHOP })
    await one.checks.push('table-12', check())
    await one.idle()
    const { data } = await one.deliveries.list()
    expect(data[0]?.attempts[0]?.error).toBe(
      `The in-process receiver of shop.test threw an error: the function of receive() must return a Response, got ${got}.`,
    )
  })

  test('closes at the end of its using block', async () => {
    let left: Simulator
    {
      await using used = await createSimulator({ port: false })
      left = used
      await used.locations.list()
    }
    await expect(left.locations.list()).rejects.toThrow(/the simulator is closed/)
  })

  test('refuses options that contradict each other', async () => {
    await expect(createSimulator({ https: true, port: false })).rejects.toThrow(/https needs a port/)
  })
})

describe('the wait for deliveries', () => {
  test('ends when a delivery arrives, or at once when some exist, the oldest first', async () => {
    await simulator.endpoints.create({ url: SHOP })
    const coming = simulator.deliveries.waitFor({ type: 'check.closed' })
    await simulator.checks.push('table-12', check())
    await simulator.checks.push('table-12', check({ status: 'closed' }))
    const [closed] = await coming
    expect(closed).toMatchObject({ event_type: 'check.closed', status: 'delivered' })
    const both = await simulator.deliveries.waitFor({ check: 'table-12', count: 2, timeout: 0 })
    expect(both.map(({ event_type }) => event_type)).toEqual(['check.created', 'check.closed'])
    const endpoint = (await simulator.endpoints.list()).data[0] ?? ''
    expect(await simulator.deliveries.waitFor({ endpoint, timeout: 0 })).toHaveLength(2)
  })

  test('says that no such delivery arrived, and names the others', async () => {
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const wait = simulator.deliveries.waitFor({ type: 'check.fully_paid', check: 'table-12', timeout: 0 })
    const error = await wait.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(NotDelivered)
    expect(error).toMatchObject({ code: 'never_came', seen: [] })
    expect((error as Error).message.split('\n')).toEqual([
      'Expected 1 delivered check.fully_paid for check table-12; none arrived. Waited 0 s.',
      'No check.fully_paid for check table-12 has occurred.',
      'All deliveries:',
      expect.stringMatching(/^ {2}dlv_\w{26} check\.created for check table-12, delivered$/),
    ])
  })

  test('says that the event happened, but no endpoint was subscribed', async () => {
    await simulator.checks.push('table-12', check())
    await expect(simulator.deliveries.waitFor({ type: 'check.created', timeout: 0 })).rejects.toThrow(
      /\ncheck\.created has occurred, but no enabled webhook endpoint is registered for it\.\nNo delivery was sent\.$/,
    )
  })

  test('does not say so of a ping, for which no endpoint is subscribed', async () => {
    answer = () => new Response(null, { status: 500 })
    const { id } = await simulator.endpoints.create({ url: SHOP })
    await simulator.endpoints.ping(id)
    const wait = simulator.deliveries.waitFor({ type: 'ping', timeout: 0 })
    const error = await wait.catch((reason: unknown) => reason)
    expect((error as Error).message).toContain('The receiver returned 500.')
    expect((error as Error).message).not.toContain('no enabled webhook endpoint')
  })

  test('carries the error of the handler, with stack and cause', async () => {
    const thrown = new Error('out of soup', { cause: new Error('no stock') })
    answer = () => {
      throw thrown
    }
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const wait = simulator.deliveries.waitFor({ timeout: 0 })
    await expect(wait).rejects.toThrow(/threw an error: out of soup\.$/)
    const error = (await wait.catch((reason: unknown) => reason)) as NotDelivered
    expect(error.cause).toBe(thrown)
    expect(error.stack).toContain('create-simulator.test.ts')
  })

  test('says that the receiver refused the delivery, and how', async () => {
    answer = () => new Response(null, { status: 500 })
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const wait = simulator.deliveries.waitFor({ timeout: 0 })
    await expect(wait).rejects.toMatchObject({ code: 'refused', seen: [{ status: 'pending' }] })
    await expect(wait).rejects.toThrow(
      /, pending after attempt 1: The receiver returned 500\. Only 2xx counts as delivered\.$/,
    )
  })
})
