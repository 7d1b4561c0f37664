import { describe, expect, test } from 'vitest'
import { createClient, type Account, type Client } from '../../src/client.ts'
import { check, item, openReceiver, openSimulator, totals, type TestSimulator } from '../support/simulator.ts'

const two = { items: [item('burger'), item('tea')], totals: totals(3700) }
const closed = { ...check(), status: 'closed' as const }
const codesOf = ({ problems }: Account) => problems.map(({ code }) => code)

/** The sums add up, per check and in total. */
function expectToAddUp({ checks, sums }: Account): void {
  for (const one of [...checks, sums])
    expect(one.pushed_cents).toBe(
      one.paid_cents - one.refunded_cents + one.owed_cents + one.paid_elsewhere_cents - one.overpaid_cents,
    )
}

async function accountOf(client: Client, options = {}): Promise<Account> {
  const account = await client.account(options)
  expectToAddUp(account)
  return account
}

describe('the account', () => {
  test('has the checks of one location, and the number of the others', async () => {
    const { client, url, push, key } = await openSimulator()
    await push('here')
    const here = await accountOf(client)
    expect(here).not.toHaveProperty('checks_of_other_locations')
    const other = (await client.locations.list()).data.find(({ id }) => id !== here.location_id)
    const apiKey = await key(['write', 'read', 'simulate'], other?.id)
    const elsewhere = createClient({ url, apiKey })
    await elsewhere.checks.push('there', check())
    await elsewhere.checks.push('here', check())
    const names = ({ checks }: Account) => checks.map(({ external_check_id }) => external_check_id)
    const [one, two_] = [await accountOf(client), await accountOf(elsewhere)]
    expect([names(one), one.checks_of_other_locations]).toEqual([['here'], 2])
    expect([names(two_), two_.checks_of_other_locations]).toEqual([['there', 'here'], 1])
  })

  test('has the amounts of each check and their sums, in the currency of the location', async () => {
    const { client, push } = await openSimulator()
    await push('paid', two)
    await client.guests.claim('paid', { items: [{ external_id: 'tea', quantity: 1 }] })
    await client.guests.pay('paid', { amount_cents: 1000, tip_cents: 150 })
    await push('till', check())
    await push('till', closed)
    const account = await accountOf(client)
    expect(account).toMatchObject({
      currency: 'USD',
      checks: [
        { external_check_id: 'paid', table: { number: '12' }, status: 'open', problems: [] },
        { external_check_id: 'till', status: 'closed', paid_elsewhere_cents: 1850, owed_cents: 0 },
      ],
      sums: {
        pushed_cents: 5550,
        claimed_cents: 1850,
        paid_cents: 1000,
        tipped_cents: 150,
        refunded_cents: 0,
        owed_cents: 2700,
        paid_elsewhere_cents: 1850,
        overpaid_cents: 0,
      },
      problems: [],
    })
  })

  test('is empty for a location without checks, and shows no check of another location', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const [newest] = (await simulator.client.locations.list()).data
    const key = await simulator.key(['simulate'], newest?.id)
    const { json } = await simulator.call('GET /_sim/account', { key })
    expect(json).toMatchObject({ checks: [], sums: { pushed_cents: 0 }, problems: [] })
  })

  test('needs the scope simulate, and refuses an invalid all_closed with 400', async () => {
    const { call, key } = await openSimulator()
    expect(await call('GET /_sim/account', { key: await key(['read', 'write']) })).toMatchObject({
      status: 403,
    })
    expect(await call('GET /_sim/account?all_closed=maybe')).toMatchObject({ status: 400 })
  })
})

/** A check that was paid in full and closed. */
async function paidAndClosed({ client, push }: TestSimulator): Promise<string> {
  await push('a')
  const { id } = await client.guests.pay('a')
  await push('a', closed)
  return id
}

describe('event_not_accepted', () => {
  test('names an event that no endpoint gets, because the endpoint was disabled before', async () => {
    const simulator = await openSimulator({ disableAfter: 1 })
    const { client, idle } = simulator
    const receiver = await openReceiver(503)
    const { id } = await client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created', 'payment.succeeded'],
    })
    await simulator.push('a')
    await idle()
    receiver.answer(204)
    await client.guests.pay('a')
    await simulator.push('a', closed)
    await idle()
    const [event] = (await client.events.list({ type: 'payment.succeeded' })).data
    expect((await accountOf(client)).problems).toEqual([
      {
        code: 'event_not_accepted',
        external_check_id: 'a',
        at: event?.created_at,
        message: `No receiver accepted payment.succeeded of check a: endpoint ${id} was disabled before (1 delivery failed). The POS does not know about it and does not book it. Make the receiver answer 2xx, then register its URL again. Events from before are not sent again.`,
        requests: [],
        events: [event?.id],
        deliveries: [],
      },
    ])
    await client.endpoints.create({ url: receiver.url, event_types: ['payment.succeeded'] })
    await simulator.push('b')
    await client.guests.pay('b')
    await simulator.push('b', closed)
    await idle()
    expect((await accountOf(client)).problems).toHaveLength(1)
  })

  test('does not advise to resend to an endpoint that its attempt disabled', async () => {
    const simulator = await openSimulator({ disableAfter: 1 })
    const { client, idle } = simulator
    const receiver = await openReceiver(503)
    await client.endpoints.create({ url: receiver.url, event_types: ['payment.succeeded'] })
    await paidAndClosed(simulator)
    await idle()
    expect((await accountOf(client)).problems).toMatchObject([
      {
        message: expect.stringMatching(
          /: 1 attempt, the last with status 503, and its endpoint is disabled or deleted\. .* register its URL again\./,
        ) as string,
      },
    ])
  })

  test('names an event that no endpoint accepted, until a retry is accepted', async () => {
    const simulator = await openSimulator()
    const { client, idle } = simulator
    const receiver = await openReceiver(503)
    await client.endpoints.create({ url: receiver.url, event_types: ['payment.succeeded', 'check.closed'] })
    await paidAndClosed(simulator)
    await idle()
    const { problems, checks } = await accountOf(client)
    const [event] = (await client.events.list({ type: 'payment.succeeded' })).data
    const [delivery] = (await client.deliveries.list({ type: 'payment.succeeded' })).data
    expect(problems).toEqual([
      {
        code: 'event_not_accepted',
        external_check_id: 'a',
        at: event?.created_at,
        message:
          'No receiver accepted payment.succeeded of check a: 1 attempt, the last with status 503, and a retry is pending. The POS does not know about it and does not book it. Make the receiver answer 2xx, then resend the delivery.',
        requests: [],
        events: [event?.id],
        deliveries: [delivery?.id],
      },
    ])
    expect(checks).toMatchObject([{ problems: ['event_not_accepted'] }])
    receiver.answer(204)
    await client.clock.advance('2m')
    expect(codesOf(await accountOf(client))).toEqual([])
  })

  test('says how the newest attempt ended, of whichever endpoint', async () => {
    const simulator = await openSimulator()
    const { client, idle } = simulator
    const receivers = [await openReceiver(500), await openReceiver(502)]
    for (const { url } of receivers)
      await client.endpoints.create({ url, event_types: ['payment.succeeded'] })
    await paidAndClosed(simulator)
    await idle()
    const [newer, older] = (await client.deliveries.list({ type: 'payment.succeeded' })).data
    // So that the older delivery gets the newest attempt.
    await client.endpoints.delete(newer?.endpoint_id ?? '')
    await client.clock.advance('2m')
    const { attempts } = await client.deliveries.get(older?.id ?? '')
    expect((await accountOf(client)).problems[0]?.message).toContain(
      `3 attempts, the last with status ${attempts[1]?.response_status}, and a retry is pending.`,
    )
  })

  test('is absent without an endpoint, and when one of two endpoints accepted the event', async () => {
    const simulator = await openSimulator()
    const { client, idle } = simulator
    await paidAndClosed(simulator)
    expect(codesOf(await accountOf(client))).toEqual([])
    for (const answer of [204, 500] as const)
      await client.endpoints.create({ url: (await openReceiver(answer)).url })
    await simulator.push('b')
    await client.guests.pay('b')
    await simulator.push('b', closed)
    await idle()
    expect(codesOf(await accountOf(client))).toEqual([])
  })
})

describe('refund_not_settled', () => {
  test('names a refund without a push that takes it off the bill', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    const payment = await paidAndClosed(simulator)
    await client.guests.refund(payment, { amount_cents: 850 })
    const [event] = (await client.events.list({ type: 'payment.refunded' })).data
    expect(await accountOf(client)).toMatchObject({
      checks: [{ refunded_cents: 850, paid_elsewhere_cents: 850 }],
      problems: [
        {
          code: 'refund_not_settled',
          message: expect.stringContaining('the closed check counts $8.50 as paid elsewhere.') as string,
          events: [event?.id],
          deliveries: [],
        },
      ],
    })
    const less = { items: [item('burger'), item('refund', { price_cents: -850 })], totals: totals(1000) }
    await push('a', { ...less, status: 'closed' })
    expect(await accountOf(client)).toMatchObject({ problems: [], sums: { paid_elsewhere_cents: 0 } })
  })

  test('does not count a push that the POS sent before it knew of the refund', async () => {
    const { client, push, idle } = await openSimulator()
    const { url } = await openReceiver()
    await client.endpoints.create({ url, event_types: ['payment.refunded'] })
    await push('a')
    const payment = await client.guests.pay('a')
    await client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 60_000 }] })
    await client.guests.refund(payment, { amount_cents: 850 })
    await push('a', closed)
    await client.clock.advance('2m')
    await idle()
    expect(codesOf(await accountOf(client))).toEqual(['refund_not_settled'])
    await push('a', { ...closed, items: [item('burger', { price_cents: 1850, note: 'cash' })] })
    expect(codesOf(await accountOf(client))).toEqual([])
  })

  test('does not count a push of a further order as the settlement', async () => {
    const { client, push } = await openSimulator()
    await push('a')
    await client.guests.refund(await client.guests.pay('a'), { amount_cents: 850 })
    await push('a', two)
    expect(codesOf(await accountOf(client))).toEqual(['refund_not_settled'])
    const items = [...two.items, item('tart'), item('refund', { price_cents: -850 })]
    await push('a', { items, totals: totals(4700) })
    expect(codesOf(await accountOf(client))).toEqual([])
  })

  test('is absent when guests paid the refunded amount again', async () => {
    const simulator = await openSimulator()
    const payment = await paidAndClosed(simulator)
    await simulator.client.guests.refund(payment)
    await simulator.client.guests.pay('a')
    expect(codesOf(await accountOf(simulator.client))).toEqual([])
  })

  test('is absent when guests paid the refunded amount again and then ordered more', async () => {
    const { client, push } = await openSimulator()
    await push('a')
    await client.guests.refund(await client.guests.pay('a'))
    await client.guests.pay('a')
    await push('a', two)
    expect(codesOf(await accountOf(client))).toEqual([])
  })
})

describe('conflict_not_settled', () => {
  test('names a 409 that no accepted push followed', async () => {
    const { client, push } = await openSimulator()
    await push('a', two)
    await client.guests.claim('a', { items: [{ external_id: 'tea', quantity: 1 }] })
    const { status, headers } = await push('a')
    expect(status).toBe(409)
    expect(await accountOf(client)).toMatchObject({
      problems: [{ code: 'conflict_not_settled', requests: [headers.get('x-request-id')] }],
    })
    await push('a', two)
    expect(codesOf(await accountOf(client))).toEqual([])
  })

  test('remains after a stale push', async () => {
    const { client, push } = await openSimulator()
    await push('a', { ...two, revision: 5 })
    await client.guests.claim('a', { items: [{ external_id: 'tea', quantity: 1 }] })
    await push('a', { revision: 6 })
    await push('a', { ...two, revision: 4 })
    expect(codesOf(await accountOf(client))).toEqual(['conflict_not_settled'])
  })
})

describe('check_left_open', () => {
  test('names a paid check that is open, until paid_not_closed replaces it', async () => {
    const { client, push } = await openSimulator()
    await push('a')
    await client.guests.pay('a')
    const [event] = (await client.events.list({ type: 'check.fully_paid' })).data
    expect(await accountOf(client)).toMatchObject({
      problems: [{ code: 'check_left_open', events: [event?.id] }],
    })
    await client.clock.advance('16m')
    expect(codesOf(await accountOf(client))).toEqual(['paid_not_closed'])
    await push('a', closed)
    expect(codesOf(await accountOf(client))).toEqual([])
  })

  test('is absent after guests ordered more, and names every open check with all_closed', async () => {
    const { client, push } = await openSimulator()
    await push('a')
    await client.guests.pay('a')
    await push('a', two)
    expect(codesOf(await accountOf(client))).toEqual([])
    expect(codesOf(await accountOf(client, { all_closed: true }))).toEqual(['check_left_open'])
  })
})

test('findings about money are problems with their requests, one for each code and check', async () => {
  const { client, push } = await openSimulator()
  await push('a', two)
  await client.guests.pay('a', { amount_cents: 3000 })
  const ids: (string | null)[] = []
  const qr = [item('qr-1', { price_cents: -1000 }), item('qr-2', { price_cents: -500 })]
  for (const [lines, cents] of [
    [qr.slice(0, 1), 2700],
    [qr, 2200],
  ] as const) {
    const { headers } = await push('a', { items: [...two.items, ...lines], totals: totals(cents) })
    ids.push(headers.get('x-request-id'))
  }
  expect(await accountOf(client)).toMatchObject({
    problems: [{ code: 'overpaid', external_check_id: 'a', requests: ids }, { code: 'check_left_open' }],
    sums: { overpaid_cents: 800 },
  })
})

test('findings of a location are not problems of another one with the same external id', async () => {
  const simulator = await openSimulator()
  const { client, url, push, call } = simulator
  // The key of the start is of the first location, which is listed last.
  const [second] = (await client.locations.list()).data
  const apiKey = await simulator.key(['read', 'write', 'simulate'], second?.id)
  const there = createClient({ url, apiKey })
  await push('a', two)
  await call('PUT /v1/checks/external/a', { key: apiKey, json: check(two) })
  await there.guests.pay('a')
  await client.clock.advance('16m')
  await client.guests.pay('a')
  const less = { items: [...two.items, item('comp', { price_cents: -1000 })], totals: totals(2700) }
  await call('PUT /v1/checks/external/a', { key: apiKey, json: check(less) })
  expect(codesOf(await accountOf(there))).toEqual(['overpaid', 'paid_not_closed'])
  expect(codesOf(await accountOf(client))).toEqual(['check_left_open'])
  const { requests } = (await client.report()).findings[0] ?? {}
  expect(Object.keys(requests?.[0] ?? {})).not.toContain('location_id')
})

test('problems come in order of time', async () => {
  const { client, push } = await openSimulator()
  await push('late')
  await push('early')
  await client.guests.pay('early')
  await client.clock.advance('1s')
  await client.guests.pay('late')
  const { problems } = await accountOf(client)
  expect(problems.map(({ external_check_id }) => external_check_id)).toEqual(['early', 'late'])
})

test('has the sums that guests paid, tipped and got refunded when the POS only makes first pushes', async () => {
  const { client, push } = await openSimulator({ seed: 4 })
  for (let number = 0; number < 30; number++) await push(`check-${number}`, two)
  const played = await client.guests.play({ seed: 3 })
  const account = await accountOf(client)
  expect(account.sums).toMatchObject({
    paid_cents: played.paid_cents,
    tipped_cents: played.tip_cents,
    refunded_cents: played.refunded_cents,
    owed_cents: played.refunded_cents,
  })
  expect(played.refunded_cents).toBeGreaterThan(0)
  expect(new Set(codesOf(account))).toEqual(new Set(['check_left_open', 'refund_not_settled']))
})
