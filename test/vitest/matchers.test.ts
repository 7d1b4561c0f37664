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
  plain('waits for what is to come, and counts', async () => {
    await simulator.endpoints.create({ url: SHOP })
    const coming = expect(simulator).toHaveDelivered('check.closed', { check: 'table-12' })
    await simulator.checks.push('table-12', check())
    await simulator.checks.push('table-12', check({ status: 'closed' }))
    await coming
    await expect(simulator).toHaveDelivered('check.created', { times: 1 })
    await expect(simulator).not.toHaveDelivered('check.created', { times: 2 })
    await expect(simulator).toHaveDelivered('check.updated', { times: 0 })
    const twice = expect(simulator).toHaveDelivered('check.created', { times: 0 })
    await expect(twice).rejects.toThrow(/^Expected exactly 0 delivered check\.created, found 1: dlv_\w+\.$/)
    const never = expect(simulator).toHaveDelivered('check.created', { check: 'table-13', timeout: 0 })
    await expect(never).rejects.toThrow(/none arrived\. Waited 0 s\.\nNo check\.created about table-13/)
  })

  plain('fails with the stack of what the handler threw', async () => {
    const takeBack = simulator.receive(SHOP, () => {
      throw new TypeError('out of soup')
    })
    await simulator.endpoints.create({ url: SHOP })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    const refused = expect(simulator).toHaveDelivered('check.created', { timeout: 0 })
    await expect(refused).rejects.toThrow(
      /\nCaused by: TypeError: out of soup\n {4}at .*matchers\.test\.ts:\d+/,
    )
    takeBack()
  })

  plain('with not, waits for no time but for what is under way', async () => {
    await simulator.endpoints.create({ url: SHOP })
    await expect(simulator).not.toHaveDelivered('check.created')
    void simulator.checks.push('table-12', check())
    await simulator.deliveries.waitFor({ status: 'pending' })
    const wrong = expect(simulator).not.toHaveDelivered('check.created')
    await expect(wrong).rejects.toThrow(/^Did not expect 1 delivered check\.created, found dlv_/)
    status = 500
    await simulator.checks.push('table-13', check())
    await expect(simulator).not.toHaveDelivered('check.created', { check: 'table-13' })
    await expect(simulator).toHaveDelivered('check.created', { check: 'table-13', status: 'pending' })
  })
})

describe('toConverge', () => {
  const grows = [1, 2, 3].map((revision) => check({ revision, totals: totals(revision * 100) }))

  plain('passes for pushes that a revision orders, and hears nothing of the trial', async () => {
    await expect(simulator).toConverge(grows)
    expect((await simulator.checks.list()).data).toEqual([])
  })

  plain('fails for pushes that nothing orders, with two orders and what differs', async () => {
    const unordered = grows.map(({ revision: _none, ...push }) => push)
    await expect(simulator).not.toConverge(unordered)
    await expect(expect(simulator).toConverge(unordered)).rejects.toThrow(
      /^The pushes of the check end in different states, in the orders 1 2 3 and [\d ]+:\n {2}1 = push 1\n(.|\n)*They differ in totals, balance_cents\./,
    )
  })

  plain('orders by the field of the simulator', async () => {
    const versioned = grows.map(({ revision: version, ...push }) => ({ ...push, version }))
    await using ordering = await createSimulator({ port: false, orderBy: 'version' })
    await expect(ordering).toConverge(versioned)
    await expect(expect(ordering).toConverge(grows)).rejects.toThrow('Send version with each push')
  })

  plain('takes what the simulator has received, of any check or of one', async () => {
    await expect(expect(simulator).toConverge()).rejects.toThrow(/^There is no push to make again/)
    for (const push of grows) await simulator.checks.push('ordered', push)
    await simulator.checks.push('unordered', check({ items: [item('a')] }))
    await simulator.checks.push('unordered', check({ items: [item('b')] }))
    await expect(simulator).toConverge(undefined, { check: 'ordered' })
    await expect(simulator).not.toConverge()
  })
})

describe('toHaveNoFindings', () => {
  plain('fails with what was found and the requests that show it', async () => {
    await expect(simulator).toHaveNoFindings()
    await simulator.checks.push(
      'table-12',
      check({ totals: { subtotal_cents: 1, tax_cents: 1, total_cents: 9 } }),
    )
    await expect(expect(simulator).toHaveNoFindings()).rejects.toThrow(
      /^The pushes show findings:\n {2}totals_mismatch, 1 times\n {4}PUT \/v1\/checks\/external\/table-12: /,
    )
    await expect(simulator).toHaveNoFindings({ except: ['totals_mismatch'] })
    await expect(simulator).not.toHaveNoFindings()
  })
})

describe('toBeSignedBy', () => {
  const body = '{"id":"evt_1"}'
  const header = (timestamp = Math.floor(Date.now() / 1_000)) =>
    sign({ payload: body, secret: 'whsec_a', timestamp })

  plain('takes a Request, whose body can still be read, and what servers have of one', async () => {
    const request = new Request(SHOP, { method: 'POST', body, headers: { 'X-Acme-Signature': header() } })
    await expect(request).toBeSignedBy('whsec_a', { serviceName: 'Acme' })
    await expect(request).toBeSignedBy('whsec_a', { serviceName: 'x-acme-signature' })
    await expect(request).not.toBeSignedBy('whsec_a', { serviceName: 'Service' })
    expect(await request.text()).toBe(body)
    const headers = { 'x-service-signature': header() }
    await expect({ headers, body: Buffer.from(body) }).toBeSignedBy('whsec_a')
    await expect({ headers: new Headers(headers), body }).toBeSignedBy('whsec_a')
  })

  plain('finds the header of any service, if there is one alone', async () => {
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

  plain('fails for another secret, other bytes, another time, no header, with the reason', async () => {
    const headers = { 'x-service-signature': header() }
    await expect({ headers, body }).not.toBeSignedBy('whsec_b')
    await expect({ headers, body: `${body} ` }).not.toBeSignedBy('whsec_a')
    await expect({ headers: {}, body }).not.toBeSignedBy('whsec_a')
    const old = { headers: { 'x-service-signature': header(1) }, body }
    await expect(expect(old).toBeSignedBy('whsec_a')).rejects.toThrow(
      /The signature is genuine, but its t is \d+ s behind/,
    )
  })
})

const test = simulatorTest({ port: false, serviceName: 'Acme' })

describe('the fixtures', { shuffle: false }, () => {
  const seen: Record<string, Simulator[]> = { own: [], shared: [] }

  for (const number of [1, 2])
    test(`give each test one of its own and each file one, ${number}`, async ({
      simulator,
      fileSimulator,
    }) => {
      await simulator.locations.list()
      await fileSimulator.locations.list()
      seen.own?.push(simulator)
      seen.shared?.push(fileSimulator)
    })

  plain('end them with their test', async () => {
    const [one, other] = seen.own ?? []
    expect(one).not.toBe(other)
    await expect(one?.locations.list()).rejects.toThrow(/is closed/)
    expect(new Set(seen.shared).size).toBe(1)
    await expect(seen.shared?.[0]?.locations.list()).resolves.toBeDefined()
  })
})
