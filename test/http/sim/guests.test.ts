import { beforeEach, describe, expect, it } from 'vitest'
import type { EventType } from '../../../src/model/event.ts'
import {
  check,
  errorOf,
  item,
  openSimulator,
  temporaryDirectory,
  type TestSimulator,
} from '../../support/simulator.ts'

let simulator: TestSimulator
beforeEach(async () => {
  simulator = await openSimulator()
  await simulator.push('a', dinner)
})

const dinner = check({
  items: [item('burger', { quantity: 2, price_cents: 1000 }), item('fries', { price_cents: 500 })],
  totals: { subtotal_cents: 2500, tax_cents: 250, total_cents: 2750 },
})
const claim = (quantity = 1, external_id = 'burger') =>
  simulator.client.guests.claim('a', { items: [{ external_id, quantity }] })
const textOf = async (path: string) => (await simulator.call(`GET ${path}`)).text
/** Returns the events after the first `count`, oldest first. */
const eventsAfter = async (known: number) =>
  (await simulator.client.events.list({ limit: 100 })).data.toReversed().slice(known)
/** All that guests could change, byte for byte. */
const everything = async () =>
  Promise.all(
    ['/v1/checks/external/a', '/v1/claims', '/v1/payments', '/v1/feedback', '/_sim/events'].map(textOf),
  )

describe('an action of a guest', () => {
  it.each<
    [what: string, collection: string, status: number, send: () => Promise<[route: string, json?: object]>]
  >([
    [
      'claiming',
      'claims',
      201,
      async () => ['POST /_sim/checks/a/claims', { items: [{ external_id: 'burger', quantity: 1 }] }],
    ],
    ['releasing', 'claims', 200, async () => [`DELETE /_sim/claims/${(await claim()).id}`]],
    ['paying', 'payments', 201, async () => ['POST /_sim/checks/a/payments', { amount_cents: 100 }]],
    [
      'refunding',
      'payments',
      200,
      async () => [`POST /_sim/payments/${(await simulator.client.guests.pay('a')).id}/refunds`, {}],
    ],
    ['rating', 'feedback', 201, async () => ['POST /_sim/checks/a/feedback', { rating: 5 }]],
  ])('%s returns what GET then shows, alone and in the list', async (_what, collection, status, send) => {
    const [route, json] = await send()
    const answer = await simulator.call(route, { json })
    expect(answer.status).toBe(status)
    const { id } = answer.json as { id: string }
    expect(await textOf(`/v1/${collection}/${id}`)).toBe(answer.text)
    expect(await textOf(`/v1/${collection}`)).toBe(`{"data":[${answer.text}],"next_cursor":null}`)
  })

  it.each([
    ['POST /_sim/checks/a/claims', { items: [{ external_id: 'burger', quantity: 1 }] }],
    ['DELETE /_sim/claims/clm_1', undefined],
    ['POST /_sim/checks/a/payments', {}],
    ['POST /_sim/payments/pay_1/refunds', {}],
    ['POST /_sim/checks/a/feedback', { rating: 5 }],
  ])('%s needs the scope simulate', async (route, json) => {
    const key = await simulator.key(['read', 'write'])
    expect(errorOf(await simulator.call(route, { key, json })).code).toBe('insufficient_scope')
  })

  it.each([
    ['POST /_sim/checks/b/claims', { items: [{ external_id: 'burger', quantity: 1 }] }],
    ['POST /_sim/checks/b/payments', {}],
    ['POST /_sim/checks/b/feedback', { rating: 5 }],
    ['DELETE /_sim/claims/clm_1', undefined],
    ['POST /_sim/payments/pay_1/refunds', {}],
    ['GET /v1/claims/clm_1', undefined],
    ['GET /v1/payments/pay_1', undefined],
    ['GET /v1/feedback/fbk_1', undefined],
  ])('%s of an unknown record is 404', async (route, json) => {
    const answer = await simulator.call(route, { json })
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found'])
  })

  it('is visible and changeable only for keys of its location', async () => {
    const here = await simulator.client.checks.get('a')
    const elsewhere = (await simulator.client.locations.list()).data.find(({ id }) => id !== here.location_id)
    const { id } = await claim()
    const payment = await simulator.client.guests.pay('a', { amount_cents: 1 })
    const feedback = await simulator.client.guests.rate('a', { rating: 1 })
    const key = await simulator.key(['read', 'write', 'simulate'], elsewhere?.id)
    for (const list of ['claims', 'payments', 'feedback'])
      expect((await simulator.call(`GET /v1/${list}?external_check_id=a`, { key })).json).toMatchObject({
        data: [],
      })
    const before = await everything()
    for (const [route, json] of [
      [`GET /v1/claims/${id}`],
      [`GET /v1/payments/${payment.id}`],
      [`GET /v1/feedback/${feedback.id}`],
      [`DELETE /_sim/claims/${id}`],
      [`POST /_sim/payments/${payment.id}/refunds`, {}],
      ['POST /_sim/checks/a/payments', {}],
      ['POST /_sim/checks/a/claims', { items: [{ external_id: 'burger', quantity: 1 }] }],
    ] as const)
      expect((await simulator.call(route, { key, json })).status).toBe(404)
    expect(await everything()).toEqual(before)
  })

  it('is listed newest first, by check and page by page', async () => {
    await simulator.push('b', dinner)
    const { guests, claims } = simulator.client
    const ids: string[] = []
    for (const name of ['a', 'b', 'a', 'a'])
      ids.unshift((await guests.claim(name, { items: [{ external_id: 'burger', quantity: 0.5 }] })).id)
    expect((await claims.list()).data.map(({ id }) => id)).toEqual(ids)
    const first = await claims.list({ external_check_id: 'a', limit: 2 })
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    const second = await claims.list({ external_check_id: 'a', limit: 2, cursor: first.next_cursor ?? '' })
    expect(second).toMatchObject({ data: [{ id: ids[3] }], next_cursor: null })
  })

  it('survives a restart', async () => {
    const dataDirectory = await temporaryDirectory()
    simulator = await openSimulator({ dataDirectory })
    await simulator.push('a', dinner)
    await simulator.client.guests.refund(
      (await simulator.client.guests.pay('a', { claim_ids: [(await claim()).id] })).id,
      { amount_cents: 1 },
    )
    await simulator.client.guests.rate('a', { rating: 3 })
    const before = await everything()
    await simulator.close()
    simulator = await openSimulator({ dataDirectory })
    expect(await everything()).toEqual(before)
  })

  it('survives saving and loading the state', async () => {
    await claim()
    await simulator.client.guests.pay('a', { amount_cents: 1 })
    await simulator.client.guests.rate('a', { rating: 3 })
    const before = await everything()
    const saved = await simulator.client.state.get()
    await simulator.client.state.reset()
    expect((await simulator.client.claims.list()).data).toEqual([])
    await simulator.client.state.put(JSON.stringify(saved))
    expect(await everything()).toEqual(before)
  })
})

describe('data of an event equals, byte for byte, the response of GET right after it', () => {
  it.each<[type: EventType, cause: () => Promise<unknown>]>([
    ['check.created', () => simulator.push('b', dinner)],
    ['check.updated', () => simulator.push('a', { ...dinner, table: { number: '7' } })],
    ['check.closed', () => simulator.push('a', { ...dinner, status: 'closed' })],
    ['claim.created', () => claim()],
    ['payment.succeeded', async () => simulator.client.guests.pay('a', { claim_ids: [(await claim()).id] })],
    ['check.fully_paid', () => simulator.client.guests.pay('a', { guest_name: 'Zoë "Z" 🍮' })],
    [
      'payment.refunded',
      async () =>
        simulator.client.guests.refund((await simulator.client.guests.pay('a')).id, { amount_cents: 5 }),
    ],
    [
      'feedback.received',
      () => simulator.client.guests.rate('a', { rating: 5, comment: 'Gut\u2028 "so" \\' }),
    ],
  ])('%s', async (type, cause) => {
    await cause()
    const event = (await eventsAfter(0)).findLast((one) => one.type === type)
    const { id = '', external_id = '' } = (event?.data ?? {}) as { id?: string; external_id?: string }
    const path = type.startsWith('check.')
      ? `/v1/checks/external/${external_id}`
      : `/v1/${{ claim: 'claims', payment: 'payments', feedback: 'feedback' }[type.split('.', 1)[0] ?? '']}/${id}`
    const body = event?.body ?? ''
    expect(body.slice(body.indexOf('"data":') + '"data":'.length, -1)).toBe(await textOf(path))
  })

  it('and actions of guests emit only the events of contract section 7, in this order', async () => {
    const { guests } = simulator.client
    const { id } = await claim()
    await guests.release(id)
    const mine = await claim(2)
    const payment = await guests.pay('a', { claim_ids: [mine.id] })
    await guests.pay('a')
    await guests.refund(payment.id)
    await guests.rate('a', { rating: 2 })
    expect((await eventsAfter(1)).map(({ type }) => type)).toEqual([
      'claim.created',
      'claim.created',
      'payment.succeeded',
      'payment.succeeded',
      'check.fully_paid',
      'payment.refunded',
      'feedback.received',
    ])
  })
})

const burgers = (quantity: unknown) => ({ items: [{ external_id: 'burger', quantity }] })

describe('bad input changes nothing', () => {
  it.each<[status: number, code: string, what: string, route: string, json: unknown]>([
    [409, 'not_claimable', 'an unknown item', 'claims', { items: [{ external_id: 'soup', quantity: 1 }] }],
    [409, 'not_claimable', 'a quantity of 0', 'claims', burgers(0)],
    [409, 'not_claimable', 'a negative quantity', 'claims', burgers(-1)],
    [409, 'not_claimable', 'more than there is', 'claims', burgers(2.001)],
    [409, 'not_claimable', 'far more than there is', 'claims', burgers(1e300)],
    [422, 'validation_failed', 'more than three decimals', 'claims', burgers(0.0001)],
    [422, 'validation_failed', 'a quantity in words', 'claims', burgers('one')],
    [422, 'validation_failed', 'a claim of nothing', 'claims', { items: [] }],
    [
      422,
      'validation_failed',
      'an item twice',
      'claims',
      { items: [...burgers(1).items, ...burgers(1).items] },
    ],
    [
      422,
      'validation_failed',
      'a name that is too long',
      'claims',
      { ...burgers(1), guest_name: 'x'.repeat(256) },
    ],
    [409, 'exceeds_balance', 'more than the balance', 'payments', { amount_cents: 2751 }],
    [422, 'validation_failed', 'an amount of 0', 'payments', { amount_cents: 0 }],
    [422, 'validation_failed', 'a negative amount', 'payments', { amount_cents: -1 }],
    [422, 'validation_failed', 'half a cent', 'payments', { amount_cents: 0.5 }],
    [422, 'validation_failed', 'a negative tip', 'payments', { tip_cents: -1 }],
    [422, 'validation_failed', 'an unknown claim', 'payments', { claim_ids: ['clm_1'] }],
    [422, 'validation_failed', 'no claims', 'payments', { claim_ids: [] }],
    [422, 'validation_failed', 'claims and an amount', 'payments', { claim_ids: ['clm_1'], amount_cents: 1 }],
    [422, 'validation_failed', 'a rating of 0', 'feedback', { rating: 0 }],
    [422, 'validation_failed', 'a rating of 6', 'feedback', { rating: 6 }],
    [422, 'validation_failed', 'a rating of 4.5', 'feedback', { rating: 4.5 }],
    [422, 'validation_failed', 'no rating', 'feedback', {}],
    [
      422,
      'validation_failed',
      'a comment of 1,001 characters',
      'feedback',
      { rating: 5, comment: '🍮'.repeat(1001) },
    ],
    [
      413,
      'payload_too_large',
      'a comment of 10 MB',
      'feedback',
      { rating: 5, comment: 'x'.repeat(10_000_000) },
    ],
    [422, 'validation_failed', 'a list', 'feedback', []],
    [422, 'validation_failed', 'an unknown field of a claim', 'claims', { ...burgers(1), guest: 'Ana' }],
    [
      422,
      'validation_failed',
      'an unknown field of a claimed item',
      'claims',
      { items: [{ ...burgers(1).items[0], name: 'Burger' }] },
    ],
    [422, 'validation_failed', 'an unknown field of a payment', 'payments', { tip: 100 }],
    [422, 'validation_failed', 'a read-only field', 'feedback', { rating: 5, id: 'fbk_1' }],
  ])('%i %s: %s', async (status, code, _what, route, json) => {
    const before = await everything()
    const answer = await simulator.call(`POST /_sim/checks/a/${route}`, { json })
    expect([answer.status, errorOf(answer).code]).toEqual([status, code])
    expect(await everything()).toEqual(before)
  })

  it.each([
    [409, 'exceeds_payment', 'more than the payment', { amount_cents: 101 }],
    [422, 'validation_failed', 'a refund of 0', { amount_cents: 0 }],
    [422, 'validation_failed', 'a negative refund', { amount_cents: -1 }],
    [422, 'validation_failed', 'an unknown field of a refund', { amount: 1 }],
  ])('%i %s: %s', async (status, code, _what, json) => {
    const { id } = await simulator.client.guests.pay('a', { amount_cents: 100 })
    const before = await everything()
    const answer = await simulator.call(`POST /_sim/payments/${id}/refunds`, { json })
    expect([answer.status, errorOf(answer).code]).toEqual([status, code])
    expect(await everything()).toEqual(before)
  })

  it('lists all issues at once', async () => {
    const json = { guest_name: '', claim_ids: [7], amount_cents: '1', tip_cents: -1 }
    const { issues } = errorOf(await simulator.call('POST /_sim/checks/a/payments', { json }))
    expect((issues as { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      'amount_cents',
      'amount_cents',
      'claim_ids[0]',
      'guest_name',
      'tip_cents',
    ])
  })

  it.each([
    [
      'claims',
      {
        items: [
          { external_id: 'burger', quantity: 1 },
          { external_id: 'burger', quantity: '1' },
        ],
      },
      ['items', 'items[1].quantity'],
    ],
    ['payments', { claim_ids: ['clm_1', 'clm_1', 7] }, ['claim_ids', 'claim_ids[2]']],
  ])('lists an invalid and a repeated element at once: %s', async (route, json, paths) => {
    const { issues } = errorOf(await simulator.call(`POST /_sim/checks/a/${route}`, { json }))
    expect((issues as { path: string }[]).map(({ path }) => path).toSorted()).toEqual(paths)
  })

  it('but a comment of 1,000 code points is accepted', async () => {
    const comment = '🍮'.repeat(1000)
    expect(await simulator.client.guests.rate('a', { rating: 5, comment })).toMatchObject({ comment })
  })
})
