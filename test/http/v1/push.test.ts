import { describe, expect, it } from 'vitest'
import type { Check } from '../../../src/model/check.ts'
import { check, item, openSimulator, totals, type TestSimulator } from '../../support/simulator.ts'

const get = (simulator: TestSimulator, id = 'a') => simulator.call(`GET /v1/checks/external/${id}`)
const eventTypes = async ({ client }: TestSimulator) =>
  (await client.events.list({ limit: 100 })).data.map(({ type }) => type).reverse()

describe('a push', () => {
  it('of a new check is 201, of a known one 200', async () => {
    const simulator = await openSimulator()
    expect(await simulator.push('a')).toMatchObject({ status: 201 })
    expect(await simulator.push('a', { totals: totals(2000) })).toMatchObject({ status: 200 })
    expect(await simulator.push('b')).toMatchObject({ status: 201 })
  })

  it('returns exactly the fields of the contract, in their order, absent ones as null', async () => {
    const simulator = await openSimulator()
    const { note: _note, ...burger } = item('burger')
    const { json } = await simulator.call('PUT /v1/checks/external/a', {
      json: check({ items: [burger as never] }),
    })
    const shown = json as Check
    expect(Object.keys(shown).join()).toBe(
      'id,external_id,location_id,table,status,items,totals,revision,paid_cents,balance_cents,created_at,updated_at,closed_at',
    )
    expect(Object.keys(shown.items[0] ?? {}).join()).toBe(
      'external_id,name,quantity,price_cents,note,claimed_quantity,paid_quantity',
    )
    const [location] = (await simulator.client.locations.list()).data.toReversed()
    expect(shown).toEqual({
      id: expect.stringMatching(/^chk_[0-9A-HJKMNP-TV-Z]{26}$/) as string,
      external_id: 'a',
      location_id: location?.id,
      table: { number: '12' },
      status: 'open',
      items: [{ ...burger, note: null, claimed_quantity: 0, paid_quantity: 0 }],
      totals: totals(1850),
      revision: null,
      paid_cents: 0,
      balance_cents: 1850,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updated_at: shown.created_at,
      closed_at: null,
    })
  })

  it.each([
    ['a new check', []],
    ['a change', [check({ totals: totals(1) })]],
    ['a close', [check(), check({ status: 'closed' })]],
    ['a replay', [check(), check()]],
    ['a stale push', [check({ revision: 2 }), check({ revision: 1, totals: totals(1) })]],
  ])('of %s returns the same bytes as GET', async (_what, pushes) => {
    const simulator = await openSimulator()
    for (const push of [...pushes, check({ items: [item('🍮', { note: 'é "x" \\ \u2028' })] })]) {
      const { text } = await simulator.push('a', push)
      expect((await get(simulator)).text).toBe(text)
    }
  })

  it('keeps id and created_at of a check, and increases updated_at', async () => {
    const simulator = await openSimulator()
    const first = (await simulator.push('a')).json as Check
    const second = (await simulator.push('a', { totals: totals(2000) })).json as Check
    expect(second).toMatchObject({ id: first.id, created_at: first.created_at })
    expect(second.updated_at > first.updated_at).toBe(true)
  })
})

describe('replaying a push has no effect', () => {
  const first = check({
    items: [item('burger', { quantity: 2 }), item('tea')],
    totals: totals(5550),
    revision: 7,
  })
  const reversed = (value: unknown): unknown =>
    Array.isArray(value) || typeof value !== 'object' || value === null
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([key, inner]) => [key, reversed(inner)]),
        )
  const { revision: _revision, ...unnumbered } = first

  it.each<[what: string, body: string]>([
    ['the same bytes', JSON.stringify(first)],
    ['other white space', JSON.stringify(first, null, 4)],
    [
      'another order of keys',
      JSON.stringify({ ...(reversed(first) as object), items: first.items.map(reversed) }),
    ],
    [
      '1.0 and 2e0 instead of 1 and 2',
      JSON.stringify(first)
        .replace('"quantity":1', '"quantity":1.0')
        .replace('"quantity":2', '"quantity":2e0'),
    ],
    ['escapes instead of letters', JSON.stringify(first).replaceAll('A burger', '\\u0041 burger')],
    ['a note left out that was null', JSON.stringify(first).replaceAll(',"note":null', '')],
    ['a field that is not known', JSON.stringify({ ...first, covers: 4 })],
    ['no revision', JSON.stringify(unnumbered)],
  ])('also with %s', async (_what, body) => {
    const simulator = await openSimulator()
    const { text } = await simulator.push('a', first)
    const replay = await simulator.call('PUT /v1/checks/external/a', { body })
    expect(replay).toMatchObject({ status: 200, text })
    expect((await get(simulator)).text).toBe(text)
    expect(await eventTypes(simulator)).toEqual(['check.created'])
    const { push } = await simulator.client.requests.get(replay.headers.get('x-request-id') ?? '')
    expect(push?.outcome).toBe('unchanged')
  })

  it('also when many arrive concurrently', async () => {
    const simulator = await openSimulator()
    const answers = await Promise.all(Array.from({ length: 20 }, () => simulator.push('a', first)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await eventTypes(simulator)).toEqual(['check.created'])
  })
})

describe('a stale push', () => {
  it.each<[what: string, current: Partial<Check>, late: Partial<Check>]>([
    ['with a lower revision', { revision: 9 }, { revision: 8, totals: totals(1) }],
    ['without the revision that the check has', { revision: 9 }, { totals: totals(1) }],
    ['that would reopen a closed check', { status: 'closed' }, { status: 'open' }],
  ])('%s is 200 with the unchanged check', async (_what, current, late) => {
    const simulator = await openSimulator()
    const { text } = await simulator.push('a', current as never)
    const events = await eventTypes(simulator)
    const answer = await simulator.push('a', late as never)
    expect(answer).toMatchObject({ status: 200, text })
    expect((await get(simulator)).text).toBe(text)
    expect(await eventTypes(simulator)).toEqual(events)
    const { push } = await simulator.client.requests.get(answer.headers.get('x-request-id') ?? '')
    expect(push?.outcome).toBe('stale')
  })
})

describe('the identity of a check is its location and external id', () => {
  it('so the keys of two locations do not see each other’s checks', async () => {
    const simulator = await openSimulator()
    const [other, own] = (await simulator.client.locations.list()).data
    const key = await simulator.key(['read', 'write'], other?.id)
    const here = (await simulator.push('a', { totals: totals(1) })).json as Check
    expect(await simulator.call('GET /v1/checks/external/a', { key })).toMatchObject({ status: 404 })
    const there = await simulator.call('PUT /v1/checks/external/a', {
      key,
      json: check({ totals: totals(2) }),
    })
    expect(there.status).toBe(201)
    expect(there.json).toMatchObject({ location_id: other?.id, totals: totals(2) })
    expect((await get(simulator)).json).toMatchObject({
      id: here.id,
      location_id: own?.id,
      totals: totals(1),
    })
    expect((await simulator.call('GET /v1/checks', { key })).json).toMatchObject({ data: [there.json] })
    expect((await simulator.client.checks.list()).data).toEqual([here])
  })
})
