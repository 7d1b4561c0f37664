import { afterAll, beforeAll, beforeEach, describe, expect, test as plain } from 'vitest'
import { createSimulator, type Simulator } from '../../src/index.ts'
import { sign } from '../../src/signature/index.ts'
import { simulatorTest } from '../../src/vitest/index.ts'
import { check, item, totals } from '../support/simulator.ts'

const SHOP = 'https://shop.test/webhooks'

let simulator: Simulator
let status: number
beforeAll(async () => {
  simulator = await createSimulator({ port: false })
  simulator.receive(SHOP, () => new Response(null, { status }))
})
afterAll(() => simulator.close())
beforeEach(async () => {
  await simulator.reset()
  status = 204
})

describe('toHaveDelivered', () => {
  plain('waits for a delivery that comes later, and counts', async () => {
    await simulator.endpoints.create({ url: SHOP })
    const coming = expect(simulator).toHaveDelivered('check.closed', { check: 'table-12' })
    await simulator.checks.push('table-12', check())
    await simulator.checks.push('table-12', check({ status: 'closed' }))
    await coming
    await expect(simulator).toHaveDelivered('check.created', { times: 1 })
    await expect(simulator).not.toHaveDelivered('check.created', { times: 2 })
    await expect(simulator).toHaveDelivered('check.updated', { times: 0 })
    const twice = expect(simulator).toHaveDelivered('check.created', { times: 0 })
    await expect(twice).rejects.toThrow(
      /^Expected: exactly 0 delivered check\.created\nGot: 1 delivered\n {2}dlv_\w{26} check\.created for check table-12, delivered$/,
    )
    const never = expect(simulator).toHaveDelivered('check.created', { check: 'table-13', timeout: 0 })
    await expect(never).rejects.toThrow(
      /^Expected: 1 delivered check\.created for check table-13\nGot: none\nNo check\.created for check table-13 has occurred\.\nAll deliveries:\n/,
    )
  })

  plain('with timeout 0 checks only the stored deliveries, and waits for no attempt in flight', async () => {
    let respond: () => void = () => {}
    const responded = new Promise<void>((resolve) => (respond = resolve))
    const takeBack = simulator.receive(SHOP, async () => {
      await responded
      return new Response(null, { status: 204 })
    })
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await expect(simulator).not.toHaveDelivered('check.created', { timeout: 0 })
    await expect(simulator).toHaveDelivered('check.created', { times: 0, timeout: 0 })
    const late = expect(simulator).not.toHaveDelivered('check.created', { timeout: 20 })
    await expect(late).rejects.toThrow(
      /^Expected: no delivered check\.created\nGot: dlv_\w{26}, still in flight after 0\.02 s$/,
    )
    // A slow receiver of other deliveries is not waited for.
    await expect(simulator).not.toHaveDelivered('check.closed', { timeout: 1_000 })
    await expect(simulator).toHaveDelivered('check.created', { check: 'another', times: 0, timeout: 1_000 })
    respond()
    await simulator.idle()
    takeBack()
  })

  plain('fails with the stack of the error that the handler threw', async () => {
    const takeBack = simulator.receive(SHOP, () => {
      throw new TypeError('out of soup')
    })
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const refused = expect(simulator).toHaveDelivered('check.created', { timeout: 0 })
    await expect(refused).rejects.toThrow(
      /\n *Caused by: TypeError: out of soup\n {4}at .*matchers\.test\.ts:\d+/,
    )
    takeBack()
  })

  plain('with not waits only for attempts in flight', async () => {
    await simulator.endpoints.create({ url: SHOP })
    await expect(simulator).not.toHaveDelivered('check.created')
    void simulator.checks.push('table-12', check())
    await simulator.deliveries.waitFor({ status: 'pending' })
    const wrong = expect(simulator).not.toHaveDelivered('check.created')
    await expect(wrong).rejects.toThrow(/^Expected: no delivered check\.created\nGot: 1 delivered\n {2}dlv_/)
    status = 500
    await simulator.checks.push('table-13', check())
    await expect(simulator).not.toHaveDelivered('check.created', { check: 'table-13' })
    await expect(simulator).toHaveDelivered('check.created', { check: 'table-13', status: 'pending' })
  })
})

describe('a failure', () => {
  /** Values that a runner shows as a diff. */
  const failureOf = (assertion: Promise<unknown>) =>
    assertion.then(
      () => 'passed',
      (error: unknown) => {
        const { message, actual, expected } = error as Error & { actual: unknown; expected: unknown }
        return { message, actual, expected }
      },
    )

  plain('of a delivery shows expected, got and the delivery, and has values for a diff', async () => {
    status = 500
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const waited = expect(simulator).toHaveDelivered('check.created', { check: 'table-12', timeout: 0 })
    const { message, ...diff } = (await failureOf(waited)) as { message: string }
    expect(message.split('\n')).toEqual([
      'Expected: 1 delivered check.created for check table-12',
      'Got: 0 delivered, and 1 pending',
      expect.stringMatching(
        /^ {2}dlv_\w{26} check\.created for check table-12, pending after attempt 1: The receiver returned 500\./,
      ),
    ])
    expect(diff).toEqual({
      actual: ['pending check.created for check table-12'],
      expected: ['delivered check.created for check table-12'],
    })
  })

  plain('of convergence shows both values of each different field, also as a diff', async () => {
    const pushes = [1, 2].map((factor) => {
      const { revision: _none, ...push } = check({ totals: totals(factor * 100) })
      return push
    })
    const failure = await failureOf(expect(simulator).toConverge(pushes))
    expect(failure).toMatchObject({
      actual: [{ check: 'the check', balance_cents: 100 }],
      expected: [{ check: 'the check', balance_cents: 200 }],
    })
  })

  plain('of a signature shows the header, and the expected header as a diff', async () => {
    const header = sign({ payload: '{}', secret: 'whsec_a', timestamp: 1_700_000_000 })
    const received = { headers: { 'x-service-signature': header }, body: '{}' }
    const failure = await failureOf(expect(received).toBeSignedBy('whsec_b'))
    expect(failure).toMatchObject({
      message: expect.stringMatching(
        /^Expected: a current signature of this body with this secret\nGot: signature_mismatch: .+\n {2}x-service-signature: t=1700000000,v1=/,
      ) as string,
      actual: header,
      expected: sign({ payload: '{}', secret: 'whsec_b', timestamp: 1_700_000_000 }),
    })
  })
})

describe('a wrong subject or argument', () => {
  const read = new Request(SHOP, { method: 'POST', body: '{}' })
  const at = (subject: unknown) => expect(subject as Simulator)
  plain.each<[string, () => Promise<void>, string]>([
    [
      'no simulator',
      () => at(undefined).toHaveDelivered('check.created'),
      'toHaveDelivered expects a simulator from createSimulator, got undefined.',
    ],
    [
      'a promise of one',
      () => at(Promise.resolve(simulator)).not.toHaveNoFindings(),
      'toHaveNoFindings expects a simulator from createSimulator, got a Promise; await it first.',
    ],
    [
      'a response',
      () => at({ status: 200 }).not.toConverge(),
      'toConverge expects a simulator from createSimulator, got an object with status.',
    ],
    [
      'one push in the place of a list',
      () => at(simulator).toConverge(check() as unknown as []),
      'toConverge expects a list of pushes, got an object with ',
    ],
    [
      'a body that was parsed',
      () => expect({ headers: {}, body: { id: 'evt_1' } }).toBeSignedBy('whsec_a'),
      'toBeSignedBy expects a Request, or { headers, body } with the raw body as text or bytes, got an object with id as body.',
    ],
    [
      'a request that was read',
      async () => {
        await read.text()
        await expect(read).toBeSignedBy('whsec_a')
      },
      'got a Request whose body has been read. Pass request.clone() before reading it.',
    ],
    [
      'no secret',
      () => expect({ headers: {}, body: '' }).toBeSignedBy(undefined as unknown as string),
      'toBeSignedBy expects the signing secret of an endpoint, got undefined.',
    ],
    [
      'a misspelt event type',
      () => expect(simulator).not.toHaveDelivered('check.creatd' as 'ping'),
      'unknown event type "check.creatd", did you mean "check.created"?',
    ],
    [
      'a misspelt finding',
      () => expect(simulator).toHaveNoFindings({ except: ['totals_mismach' as 'totals_mismatch'] }),
      'unknown finding "totals_mismach", did you mean "totals_mismatch"?',
    ],
    [
      'a misspelt option',
      () => expect(simulator).toHaveDelivered('ping', { tiems: 1 } as object),
      'unknown option "tiems", did you mean "times"?',
    ],
    [
      'a text in the place of options',
      () => expect(simulator).toHaveNoFindings('totals_mismatch' as never),
      'options must be an object, got "totals_mismatch".',
    ],
    [
      'no order to try',
      () => expect(simulator).toConverge([check()], { orders: 0 }),
      'orders must be a whole number of at least 1, got 0.',
    ],
    [
      'a check beside a list of pushes',
      () => expect(simulator).toConverge([check()], { check: 'a' }),
      'toConverge selects by `check` among recorded pushes. Pass a list of pushes, or `check`.',
    ],
    [
      'a text as number of orders',
      () => expect(simulator).toConverge([check()], { orders: 'all' as never }),
      'orders must be a whole number of at least 1, got "all".',
    ],
    [
      'a text as seed',
      () => expect(simulator).toConverge([check()], { seed: '1' as never }),
      'seed must be a whole number of at least 0, got "1".',
    ],
    [
      'a part of a delivery',
      () => expect(simulator).toHaveDelivered('check.created', { times: 1.5 }),
      'times must be a whole number of at least 0, got 1.5.',
    ],
    [
      'a negative timeout',
      () => expect(simulator).toHaveDelivered('check.created', { timeout: -1 }),
      'timeout must be a number of milliseconds of at least 0, got -1.',
    ],
    [
      'a text as timeout',
      () => expect(simulator).not.toHaveDelivered('check.created', { timeout: '1s' as never }),
      'timeout must be a number of milliseconds of at least 0, got "1s".',
    ],
    [
      'a finding in the place of a list',
      () => expect(simulator).toHaveNoFindings({ except: 'overpaid' as never }),
      'except must be a list of findings, got "overpaid".',
    ],
    ['a list of requests', () => expect([] as unknown as Request).toBeSignedBy('whsec_a'), 'got an Array.'],
  ])('is refused with the expected value: %s', async (_what, assert, message) => {
    await expect(assert()).rejects.toThrow(message)
    await expect(assert()).rejects.toBeInstanceOf(TypeError)
  })
})

describe('toConverge', () => {
  const grows = [1, 2, 3].map((revision) => check({ revision, totals: totals(revision * 100) }))

  plain('passes for pushes with a revision, and stores no check', async () => {
    await expect(simulator).toConverge(grows)
    expect((await simulator.checks.list()).data).toEqual([])
  })

  plain('fails for pushes without an order, and shows two orders with their differences', async () => {
    const unordered = grows.map(({ revision: _none, ...push }) => push)
    await expect(simulator).not.toConverge(unordered)
    await expect(expect(simulator).toConverge(unordered)).rejects.toThrow(
      /^Expected: the pushes of each check end in one state, in any order and repeated\nGot: different states of the check\nThe pushes of the check:\n {2}1 = push 1 \(open, \d+ items?, total_cents 100\)\n(.|\n)* {2}balance_cents: 300 after 1 2 3; \d+ after [\d ]+\nSend revision with each push/,
    )
  })

  plain('uses the ordering field of the simulator', async () => {
    const versioned = grows.map(({ revision: version, ...push }) => ({ ...push, version }))
    await using ordering = await createSimulator({ port: false, orderBy: 'version' })
    await expect(ordering).toConverge(versioned)
    await expect(expect(ordering).toConverge(grows)).rejects.toThrow('Send version with each push')
  })

  plain('checks the pushes that the simulator received, of all checks or of one', async () => {
    for (const assertion of [expect(simulator), expect(simulator).not])
      await expect(assertion.toConverge()).rejects.toThrow(
        'toConverge has no pushes to repeat. Push checks to the simulator first, or pass a list of pushes.',
      )
    for (const push of grows) await simulator.checks.push('ordered', push)
    await simulator.checks.push('unordered', check({ items: [item('a')] }))
    await simulator.checks.push('unordered', check({ items: [item('b')] }))
    await expect(simulator).toConverge(undefined, { check: 'ordered' })
    await expect(expect(simulator).toConverge(undefined, { check: 'odered' })).rejects.toThrow(
      'toConverge has no pushes to repeat of check odered.',
    )
    await expect(simulator).not.toConverge()
  })

  plain('does not judge a part of the pushes, when others have left the request log', async () => {
    for (const push of grows) await simulator.checks.push('ordered', push)
    for (let read = 0; read < 1_000; read++) await simulator.checks.list({ limit: 1 })
    for (const assertion of [expect(simulator), expect(simulator).not])
      await expect(assertion.toConverge()).rejects.toThrow(
        `the request log no longer has ${grows.length} of them. Pass a list of pushes.`,
      )
  })
})

plain('a check or an endpoint that is empty or null is refused, and matches nothing', async () => {
  for (const none of ['', null]) {
    const empty = none as unknown as string
    const wanted = { check: empty }
    await expect(expect(simulator).not.toHaveDelivered('check.created', wanted)).rejects.toThrow(TypeError)
    await expect(simulator.deliveries.none({ endpoint: empty })).rejects.toThrow(TypeError)
    await expect(simulator.events.waitFor('check.created', wanted)).rejects.toThrow(TypeError)
  }
})

describe('toHaveNoFindings', () => {
  plain('fails with the findings and the requests that cause them', async () => {
    await expect(simulator).toHaveNoFindings()
    await simulator.checks.push(
      'table-12',
      check({ totals: { subtotal_cents: 1, tax_cents: 1, total_cents: 9 } }),
    )
    await expect(expect(simulator).toHaveNoFindings()).rejects.toThrow(
      /^Expected: no findings in the pushes\nGot: totals_mismatch \(1\)\n {2}totals_mismatch: PUT \/v1\/checks\/external\/table-12: /,
    )
    await expect(simulator).toHaveNoFindings({ except: ['totals_mismatch'] })
    await expect(simulator).not.toHaveNoFindings()
  })
})

describe('toBeSignedBy', () => {
  const body = '{"id":"evt_1"}'
  const header = (timestamp = Math.floor(Date.now() / 1_000)) =>
    sign({ payload: body, secret: 'whsec_a', timestamp })

  plain('accepts a Request, which can still be read, and the headers and body of other servers', async () => {
    const request = new Request(SHOP, { method: 'POST', body, headers: { 'X-Acme-Signature': header() } })
    await expect(request).toBeSignedBy('whsec_a', { serviceName: 'Acme' })
    await expect(request).toBeSignedBy('whsec_a', { serviceName: 'x-acme-signature' })
    await expect(request).not.toBeSignedBy('whsec_a', { serviceName: 'Service' })
    expect(await request.text()).toBe(body)
    const headers = { 'x-service-signature': header() }
    await expect({ headers, body: Buffer.from(body) }).toBeSignedBy('whsec_a')
    await expect({ headers, body: new TextEncoder().encode(body).buffer }).toBeSignedBy('whsec_a')
    await expect({ headers: new Headers(headers), body }).toBeSignedBy('whsec_a')
  })

  plain('checks the exact bytes of a Request, even bytes that its text does not contain', async () => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body), Buffer.from([0xff])])
    const timestamp = Math.floor(Date.now() / 1_000)
    const request = (signed: Uint8Array) => {
      const signature = sign({ payload: signed, secret: 'whsec_a', timestamp })
      return new Request(SHOP, { method: 'POST', body: bytes, headers: { 'x-service-signature': signature } })
    }
    await expect(request(bytes)).toBeSignedBy('whsec_a')
    await expect(request(bytes.subarray(3))).not.toBeSignedBy('whsec_a')
  })

  plain('finds the header of any service when there is only one', async () => {
    await expect({ headers: { 'X-Acme-Signature': header() }, body }).toBeSignedBy('whsec_a')
    const request = new Request(SHOP, { method: 'POST', body, headers: { 'X-Acme-Signature': header() } })
    await expect(request).toBeSignedBy('whsec_a')
    const two = { 'x-hub-signature': 'sha1=0', 'x-service-signature': header() }
    await expect({ headers: two, body }).toBeSignedBy('whsec_a')
  })

  plain('finds the header in any case', async () => {
    const named = { serviceName: 'Acme' }
    await expect({ headers: { 'X-Acme-Signature': header() }, body }).toBeSignedBy('whsec_a', named)
    await expect({ headers: { 'X-ACME-SIGNATURE': header() }, body }).toBeSignedBy('whsec_a', named)
    const two = { 'X-Hub-Signature': 'sha1=0', 'X-Service-Signature': header() }
    await expect({ headers: two, body }).toBeSignedBy('whsec_a')
  })

  plain('fails with the reason for another secret, another body, an old timestamp or no header', async () => {
    const headers = { 'x-service-signature': header() }
    await expect({ headers, body }).not.toBeSignedBy('whsec_b')
    await expect({ headers, body: `${body} ` }).not.toBeSignedBy('whsec_a')
    await expect({ headers: {}, body }).not.toBeSignedBy('whsec_a')
    const old = { headers: { 'x-service-signature': header(1) }, body }
    await expect(expect(old).toBeSignedBy('whsec_a')).rejects.toThrow(
      /The signature is genuine, but t is \d+ s behind/,
    )
  })
})

const test = simulatorTest({ port: false, serviceName: 'Acme' })

describe('the fixtures', { shuffle: false }, () => {
  const seen: Record<string, Simulator[]> = { own: [], shared: [] }

  for (const number of [1, 2])
    test(`create one simulator for each test and one for each file, ${number}`, async ({
      simulator,
      fileSimulator,
    }) => {
      await simulator.locations.list()
      await fileSimulator.locations.list()
      seen.own?.push(simulator)
      seen.shared?.push(fileSimulator)
    })

  plain('close the simulator of a test when the test ends', async () => {
    const [one, other] = seen.own ?? []
    expect(one).not.toBe(other)
    await expect(one?.locations.list()).rejects.toThrow(/is closed/)
    expect(new Set(seen.shared).size).toBe(1)
    await expect(seen.shared?.[0]?.locations.list()).resolves.toBeDefined()
  })
})
