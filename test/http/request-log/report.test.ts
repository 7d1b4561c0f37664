import { describe, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import { findingCodes, type FindingCode } from '../../../src/model/simulator/report.ts'
import { bundleOf } from '../../../src/model/simulator/bundle.ts'
import { KEPT_REQUESTS } from '../../../src/model/simulator/request-entry.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  check,
  item,
  openSimulator,
  rawHeaders,
  totals,
  type TestSimulator,
} from '../../support/simulator.ts'

/** Steps of an integration. */
type Story = (simulator: TestSimulator) => Promise<unknown>

const pushing =
  (...bodies: object[]): Story =>
  async (simulator) => {
    for (const body of bodies) await simulator.push('a', body)
  }

const two = { items: [item('burger'), item('tea')], totals: totals(3700) }
const three = { items: [...two.items, item('tart')], totals: totals(5550) }
const failing =
  (fault: object): Story =>
  async ({ client }) =>
    client.faults.set({ faults: [{ on: 'api', times: 1, ...fault }] })
const inTurn =
  (...stories: Story[]): Story =>
  async (simulator) => {
    for (const story of stories) await story(simulator)
  }
const brokenOff: Story = (simulator) => simulator.push('a', two).catch(() => undefined)
const claimingTea: Story = ({ client }) =>
  client.guests.claim('a', { items: [{ external_id: 'tea', quantity: 1 }] })
const teaIsClaimed = inTurn(pushing(two), claimingTea)

const sending =
  (...bodies: (string | Uint8Array)[]): Story =>
  async ({ call }) => {
    for (const body of bodies) await call('PUT /v1/checks/external/a', { body })
  }

const newParty = { items: [item('soup')], totals: totals(1850) }
const paying = (): Story => (simulator) => simulator.client.guests.pay('a', {})
const waiting =
  (advance: string): Story =>
  ({ client }) =>
    client.clock.advance(advance)

/** Pushes a check of lines with ids that are unique per line: `water 2` is the second water. */
const pushed =
  (id: string, ...lines: (string | object)[]): Story =>
  (simulator) => {
    const items = lines.filter((line) => typeof line === 'string').map((line) => lineOf(line))
    const more = lines.filter((line) => typeof line === 'object')
    return simulator.push(
      id,
      Object.assign({ items, totals: totals(1850 * items.length) }, ...more) as object,
    )
  }

/** `water` is the line ln_water_10001 of water; `1 soup` has the id `1`, as numbered within its check. */
function lineOf(line: string) {
  const [, id, name = ''] = /^(\d+|plu-\d+) (\w+)$/.exec(line) ?? []
  const [product = '', number = '1'] = line.split(' ')
  return id === undefined ? item(`ln_${product}_1000${number}`, { name: product }) : item(id, { name })
}
const twoTables = inTurn(pushed('a', 'water', 'soup'), pushed('b', 'wine', 'water 2'))

const integrations: Record<FindingCode, { shows: Story; doesNot: Story }> = {
  totals_mismatch: { shows: pushing({ totals: totals(1) }), doesNot: pushing({ totals: totals(1850) }) },
  unknown_field: { shows: pushing({ covers: 2 }), doesNot: pushing({}) },
  revision_missing: {
    shows: pushing({ revision: 1 }, two),
    doesNot: pushing({ revision: 1 }, { ...two, revision: 2 }),
  },
  revision_reused: {
    shows: pushing({ revision: 1 }, { ...two, revision: 1 }),
    doesNot: pushing({ revision: 1 }, { revision: 1 }),
  },
  reopen_needs_revision: {
    shows: pushing({ status: 'closed' }, {}),
    doesNot: pushing({ status: 'closed', revision: 1 }, { revision: 2 }),
  },
  possible_late_retry: { shows: pushing({}, two, {}), doesNot: pushing({}, two, two) },
  item_id_reused: {
    shows: pushing({}, { items: [item('burger', { name: 'A soup' })] }),
    doesNot: pushing({}, { items: [item('burger', { note: 'rare' })] }),
  },
  item_id_unstable: {
    shows: pushing({}, { items: [item('x1', { name: 'A burger' })] }),
    doesNot: pushing({}, two),
  },
  delta_suspected: {
    shows: pushing(two, { items: [item('tart')] }),
    doesNot: pushing(two, three),
  },
  quantity_precision: {
    shows: pushing({ items: [item('bread', { quantity: 1.0001, price_cents: 0 })], totals: totals(0) }),
    doesNot: pushing({ items: [item('bread', { quantity: 1.001, price_cents: 0 })], totals: totals(0) }),
  },
  text_encoding: {
    shows: pushing({ items: [item('burger', { name: 'CafÃ©' })] }),
    doesNot: pushing({ items: [item('burger', { name: 'Café' })] }),
  },
  conflict_ignored: {
    shows: inTurn(teaIsClaimed, pushing({}, {})),
    doesNot: inTurn(
      failing({ error_rate: 1, error_status: 409, times: 2 }),
      pushing({}, {}),
      teaIsClaimed,
      pushing({}, three),
    ),
  },
  no_idempotent_retry: {
    shows: inTurn(failing({ error_rate: 1 }), pushing(two, three)),
    doesNot: inTurn(failing({ error_rate: 1 }), pushing(two, two, three)),
  },
  push_refused: {
    shows: sending('{"table":'),
    doesNot: inTurn(failing({ error_rate: 1, error_status: 418 }), pushing(two), teaIsClaimed, pushing({})),
  },
  invalid_push_repeated: {
    shows: sending('{"table":', '{"table":'),
    doesNot: pushing({}, {}),
  },
  check_id_reused: {
    shows: inTurn(
      pushing({ status: 'closed', revision: 5 }),
      waiting('24h'),
      pushing({ ...newParty, revision: 1 }),
    ),
    doesNot: inTurn(
      pushing({ revision: 1 }, { ...newParty, revision: 2 }, { status: 'closed', revision: 3 }),
      pushing({ ...newParty, revision: 1 }, { ...two, revision: 4 }),
    ),
  },
  paid_not_closed: {
    shows: inTurn(pushing({}), paying(), waiting('15m')),
    doesNot: inTurn(pushing({}), paying(), waiting('14m'), pushing({ status: 'closed' }), waiting('1h')),
  },
  overpaid: {
    shows: inTurn(
      pushing({}),
      paying(),
      pushing({ items: [item('burger'), item('qr', { price_cents: -1850 })], totals: totals(0) }),
    ),
    doesNot: inTurn(pushing({}), paying(), pushing(two), paying(), pushing({ ...two, status: 'closed' })),
  },
  lines_merged: {
    shows: pushing(
      { items: [item('burger'), item('burger-2', { name: 'A burger' })], totals: totals(3700) },
      { items: [item('burger', { quantity: 2 })], totals: totals(3700) },
    ),
    doesNot: pushing(two, { items: [item('burger', { quantity: 2 })], totals: totals(3700) }),
  },
  item_on_two_checks: {
    shows: inTurn(twoTables, pushed('b', 'wine', 'water', 'water 2', 'soup')),
    doesNot: inTurn(
      inTurn(twoTables, pushed('b', 'wine', 'water', 'water 2', 'soup')),
      pushed('a', { status: 'closed' }),
      // Lines numbered within each check, and the ids of a menu.
      pushed('c', '1 soup', '2 water', '3 water'),
      pushed('d', '1 soup', '2 water', '3 water', '4 wine'),
      pushed('e', 'plu-10001 tart', 'plu-10002 tea'),
      pushed('f', 'plu-10001 tart', 'plu-10002 tea', 'plu-10003 cake'),
    ),
  },
  duplicate_check: {
    shows: inTurn(twoTables, pushed('c', 'water', 'soup')),
    doesNot: inTurn(twoTables, pushed('c', { status: 'closed' }, 'water', 'soup')),
  },
  unit_change: {
    shows: pushing(two, {
      items: [item('burger', { price_cents: 185_000 }), item('tea', { price_cents: 185_000 })],
      totals: totals(370_000),
    }),
    doesNot: pushing(two, {
      items: [item('burger'), item('tea', { price_cents: 185 })],
      totals: totals(2035),
    }),
  },
}

/** Findings that another one cannot be without. */
const comesAfter: Partial<Record<FindingCode, FindingCode[]>> = { invalid_push_repeated: ['push_refused'] }

const codesOf = async ({ client }: TestSimulator) => (await client.report()).findings.map(({ code }) => code)

/** The findings of each request that the log gives for one. */
const foundIn = async ({ client }: TestSimulator, finding: FindingCode | 'any') =>
  (await client.requests.list({ finding })).data.map(({ push, findings = push?.findings }) =>
    findings?.map(({ code }) => code),
  )

describe('the report', () => {
  it.each(findingCodes)(
    'has %s, like the request log, only for an integration with that mistake',
    async (code) => {
      const wrong = await openSimulator()
      await integrations[code].shows(wrong)
      const codes = [...(comesAfter[code] ?? []), code]
      expect(await codesOf(wrong)).toEqual(codes)
      expect(await foundIn(wrong, code)).toEqual([[code]])
      expect(await foundIn(wrong, 'any')).toEqual(codes.toReversed().map((found) => [found]))
      const right = await openSimulator()
      await integrations[code].doesNot(right)
      expect(await codesOf(right)).toEqual([])
      expect(await foundIn(right, 'any')).toEqual([])
    },
  )

  it('groups by finding, with the count, the times and the requests', async () => {
    const simulator = await openSimulator({ clock: createManualClock() })
    const ids: (string | null)[] = []
    for (const id of ['a', 'b'])
      ids.push((await simulator.push(id, { totals: totals(1) })).headers.get('x-request-id'))
    const at = '2026-11-21T18:00:00.000Z'
    const shown = (id: string, index: number) => ({
      id: ids[index],
      method: 'PUT',
      path: `/v1/checks/external/${id}`,
      status: 201,
      started_at: at,
      message: expect.stringContaining('do not add up') as string,
    })
    expect(await simulator.client.report()).toEqual({
      since: null,
      pushes: 2,
      refused: [],
      findings: [
        {
          code: 'totals_mismatch',
          count: 2,
          first_at: at,
          last_at: at,
          requests: ['a', 'b'].map(shown),
          includes_earlier: false,
        },
      ],
    })
  })

  it('with since covers only that time and later', async () => {
    const clock = createManualClock()
    const simulator = await openSimulator({ clock })
    await simulator.push('a', { totals: totals(1) })
    clock.advance(60_000)
    await simulator.push('b', { ...check(), covers: 2 } as object)
    const { since, pushes, findings } = await simulator.client.report(clock.now())
    expect({ since, pushes, codes: findings.map(({ code }) => code) }).toEqual({
      since: '2026-11-21T18:01:00.000Z',
      pushes: 1,
      codes: ['unknown_field'],
    })
  })

  it.each([
    ['a connection that was reset before anything was done', { reset_rate: 1 }],
    ['an answer that was lost', { lost_answer_rate: 1 }],
  ])('counts %s as a failed push, until it is repeated', async (_what, fault) => {
    const simulator = await openSimulator()
    await inTurn(failing(fault), brokenOff)(simulator)
    const { findings } = await simulator.client.report()
    expect(findings[0]?.requests[0]?.message).toMatch(/^The push ended without a response /)
    await simulator.push('a', two)
    expect(await codesOf(simulator)).toEqual([])
  })

  it('counts a failed push until it is repeated, whatever query each has', async () => {
    const simulator = await openSimulator()
    const { client, call } = simulator
    await client.faults.set({ faults: [{ on: 'api', times: 1, error_rate: 1 }] })
    const json = { ...check(), ...two }
    await call('PUT /v1/checks/external/a?try=1', { json })
    expect(await codesOf(simulator)).toEqual(['no_idempotent_retry'])
    await call('PUT /v1/checks/external/a?try=2', { json })
    expect(await codesOf(simulator)).toEqual([])
  })

  describe('with revisions counts a failed push', () => {
    const failed = inTurn(failing({ error_rate: 1 }), pushing({ revision: 2 }))

    it.each<[string, Story]>([
      ['a newer state was accepted', inTurn(failed, pushing({ ...two, revision: 3 }))],
      ['its content was accepted with a higher revision', inTurn(failed, pushing({ revision: 9 }))],
      [
        'a late push shows that a newer state was accepted',
        inTurn(pushing({ ...two, revision: 3 }), failed, pushing({ ...two, revision: 1 })),
      ],
      ['a newer state was accepted before', inTurn(pushing({ ...two, revision: 3 }), failed)],
    ])('until %s', async (_when, story) => {
      const simulator = await openSimulator()
      await story(simulator)
      expect(await codesOf(simulator)).toEqual([])
    })

    it.each<[string, Story]>([
      ['no push follows', failed],
      ['only an older state follows', inTurn(failed, pushing({ ...two, revision: 1 }))],
      ['another state has its revision', inTurn(failed, pushing({ ...two, revision: 2 }))],
    ])('while %s', async (_when, story) => {
      const simulator = await openSimulator()
      await story(simulator)
      const { findings } = await simulator.client.report()
      expect(findings.map(({ code }) => code)).toEqual(['no_idempotent_retry'])
      expect(findings[0]?.requests[0]?.message).not.toContain('Ignore this finding')
    })

    it('until a newer state fails alone', async () => {
      const simulator = await openSimulator()
      await inTurn(failing({ error_rate: 1, times: 2 }), pushing({ revision: 2 }, { revision: 3 }))(simulator)
      expect((await simulator.client.report()).findings).toMatchObject([{ count: 1 }])
    })
  })

  it.each([
    ['without', [{}, {}, {}]],
    ['with', [{ revision: 1 }, { revision: 2 }, { revision: 3 }]],
  ])('has delta_suspected for a sender of one new item per push %s revisions', async (_how, revisions) => {
    const simulator = await openSimulator()
    const [first, second, third] = ['soup', 'tea', 'tart'].map((id, at) => ({
      items: [item(id)],
      ...revisions[at],
    }))
    await pushing(first ?? {}, second ?? {})(simulator)
    expect(await codesOf(simulator)).toEqual([])
    await pushing(third ?? {})(simulator)
    expect(await codesOf(simulator)).toEqual(['delta_suspected'])
    expect(await foundIn(simulator, 'any')).toEqual([['delta_suspected']])
  })

  it('counts a push with 429 until the check is pushed again', async () => {
    const simulator = await openSimulator({ rateLimit: { requests: 1, seconds: 3_600 } })
    const pushWithNewKey = async (id: string) => {
      const key = await simulator.key(['write'])
      const { status } = await simulator.call(`PUT /v1/checks/external/${id}`, { json: check(), key })
      expect(status).toBe(201)
    }
    await simulator.push('b')
    await pushing(two, three)(simulator)
    await pushWithNewKey('c')
    expect((await simulator.client.report()).findings).toMatchObject([
      {
        code: 'push_refused',
        requests: [
          {
            path: '/v1/checks/external/a',
            message:
              'The push was refused with 429 rate_limited and was not sent again. The check may lack its change. Wait for the seconds in Retry-After, then send the push again.',
          },
        ],
      },
    ])
    expect(await foundIn(simulator, 'push_refused')).toEqual([['push_refused']])
    await pushWithNewKey('a')
    expect(await codesOf(simulator)).toEqual([])
  })

  it('treats the same JSON in another notation as the same push', async () => {
    const simulator = await openSimulator()
    await inTurn(teaIsClaimed, pushing({}))(simulator)
    const body = JSON.stringify(check(), null, 1).replaceAll('1850', '1850.0')
    await simulator.call('PUT /v1/checks/external/a', { body })
    expect(await codesOf(simulator)).toEqual(['conflict_ignored'])
  })

  it('has no finding for repeating a refused push after the guest released the claim', async () => {
    const simulator = await openSimulator()
    await pushing(two)(simulator)
    const claim = await simulator.client.guests.claim('a', { items: [{ external_id: 'tea', quantity: 1 }] })
    await pushing({})(simulator)
    await simulator.client.guests.release(claim.id)
    await pushing({})(simulator)
    expect(await codesOf(simulator)).toEqual([])
  })

  it('has no finding for a conflict after an accepted push, unless that one was stale', async () => {
    const restored = await openSimulator()
    await inTurn(teaIsClaimed, pushing({}, two, {}))(restored)
    expect(await codesOf(restored)).toEqual([])
    const stale = await openSimulator()
    const [claimed, less, old] = [{ ...two, revision: 2 }, { revision: 3 }, { revision: 1 }]
    await inTurn(pushing(claimed), claimingTea, pushing(less, old, less))(stale)
    expect(await codesOf(stale)).toEqual(['conflict_ignored'])
  })

  it('has no finding for a claimed item that was added last, and cannot be removed', async () => {
    const simulator = await openSimulator()
    await inTurn(pushing({}, two), claimingTea, pushing({}, two))(simulator)
    expect(await codesOf(simulator)).toEqual([])
  })

  it('has conflict_ignored for the same content with other revisions', async () => {
    const simulator = await openSimulator()
    await inTurn(
      pushing({ ...two, revision: 1 }),
      claimingTea,
      pushing({ revision: 2 }, { revision: 3 }),
    )(simulator)
    const { findings } = await simulator.client.report()
    expect(findings).toMatchObject([{ code: 'conflict_ignored', count: 1 }])
    expect(findings[0]?.requests[0]?.message).toMatch(/^The same content was refused with 409 before /)
  })

  it('has no finding for a conflict after a push that restored the items, with revisions', async () => {
    const simulator = await openSimulator()
    const revised = [{ revision: 2 }, { ...two, revision: 3 }, { revision: 4 }]
    await inTurn(pushing({ ...two, revision: 1 }), claimingTea, pushing(...revised))(simulator)
    expect(await codesOf(simulator)).toEqual([])
  })

  const burgerAnd = (...ids: string[]) => ({
    items: ['burger', ...ids].map((id) => item(id)),
    totals: totals(1850 * (ids.length + 1)),
  })

  it('has conflict_ignored for three pushes in a row with the same conflict, until one is accepted', async () => {
    const simulator = await openSimulator()
    await inTurn(teaIsClaimed, pushing({}, burgerAnd('tart')))(simulator)
    expect(await codesOf(simulator)).toEqual([])
    await pushing(burgerAnd('tart', 'soup'))(simulator)
    const { findings } = await simulator.client.report()
    expect(findings).toMatchObject([{ code: 'conflict_ignored', count: 1 }])
    expect(findings[0]?.requests[0]?.message).toMatch(/^The last 3 pushes .* same items: tea \(removed\)\. /)
    expect(await foundIn(simulator, 'conflict_ignored')).toEqual([['conflict_ignored']])
    const { log } = bundleOf(JSON.parse(JSON.stringify(await simulator.client.bundle())))
    expect(log.conflicts).toMatchObject([{ again: { pushes: 3, conflicts: ['tea (removed)'] } }])
    await pushing(burgerAnd('tea', 'tart'))(simulator)
    expect(await codesOf(simulator)).toEqual([])
  })

  it('has no finding for three pushes in a row with other conflicts each', async () => {
    const simulator = await openSimulator()
    await teaIsClaimed(simulator)
    await simulator.client.guests.claim('a', { items: [{ external_id: 'burger', quantity: 1 }] })
    const teaAlone = { items: [item('tea')], totals: totals(1850) }
    await pushing({}, teaAlone, burgerAnd('tart'))(simulator)
    expect(await codesOf(simulator)).toEqual([])
  })

  it('has invalid_push_repeated even when a push was accepted in between', async () => {
    const simulator = await openSimulator()
    await inTurn(sending('{}'), pushing({}), sending('{}'))(simulator)
    expect(await codesOf(simulator)).toEqual(['push_refused', 'invalid_push_repeated'])
  })

  describe('has no finding for a push because of one of another location with the same external id:', () => {
    /** A simulator, and pushes of the check `a` with a key of each location. */
    const openTwo = async () => {
      const simulator = await openSimulator()
      const [second] = (await simulator.client.locations.list()).data
      const key = await simulator.key(['read', 'write', 'simulate'], second?.id)
      const there = createClient({ url: simulator.url, apiKey: key })
      const pushAt = (location: 1 | 2, json: object) =>
        simulator.call('PUT /v1/checks/external/a', location === 1 ? { json } : { json, key })
      return { ...simulator, there, pushAt }
    }

    it('a conflict', async () => {
      const simulator = await openTwo()
      const { client, there, pushAt } = simulator
      for (const location of [1, 2] as const) await pushAt(location, check(two))
      for (const one of [client, there])
        await one.guests.claim('a', { items: [{ external_id: 'tea', quantity: 1 }] })
      for (const location of [1, 2] as const)
        expect(await pushAt(location, check())).toMatchObject({ status: 409 })
      expect(await codesOf(simulator)).toEqual([])
      await pushAt(2, check())
      expect(await codesOf(simulator)).toEqual(['conflict_ignored'])
    })

    it('an invalid body', async () => {
      const simulator = await openTwo()
      for (const location of [1, 2] as const) await simulator.pushAt(location, {})
      expect(await codesOf(simulator)).toEqual(['push_refused'])
    })

    it.each([{ error_rate: 1 }, { reset_rate: 1 }, { lost_answer_rate: 1 }])(
      'a failed push, which only its own location repeats: %o',
      async (fault) => {
        const simulator = await openTwo()
        await failing(fault)(simulator)
        await simulator.pushAt(1, check()).catch(() => undefined)
        await simulator.pushAt(2, check())
        expect(await codesOf(simulator)).toEqual(['no_idempotent_retry'])
        await simulator.pushAt(1, check())
        expect(await codesOf(simulator)).toEqual([])
      },
    )
  })

  it('has the ignored conflict in the request log as well', async () => {
    const simulator = await openSimulator()
    await integrations.conflict_ignored.shows(simulator)
    const [last, first] = (await simulator.client.requests.list()).data
    expect(last?.push?.findings.map(({ code }) => code)).toEqual(['conflict_ignored'])
    expect(first?.push?.findings).toEqual([])
  })

  it('includes findings that the request log has dropped', async () => {
    const simulator = await openSimulator()
    const first = await simulator.push('a', { totals: totals(1) })
    const id = first.headers.get('x-request-id') ?? ''
    for (let many = 0; many < KEPT_REQUESTS; many++) await simulator.client.locations.list()
    await expect(simulator.client.requests.get(id)).rejects.toThrow(
      `No request with this id. The service keeps at most the newest ${KEPT_REQUESTS.toLocaleString('en')} requests.`,
    )
    const { pushes, findings } = await simulator.client.report()
    expect({ pushes, findings }).toMatchObject({ pushes: 1, findings: [{ count: 1, requests: [{ id }] }] })
  })

  it('leaves out trial pushes of our commands, and is cleared by loading a state', async () => {
    const simulator = await openSimulator()
    await simulator.push('tabwire-trial-1', { totals: totals(1) })
    await simulator.call('PUT /v1/checks/external/tabwire-trial-1', { body: 'no JSON' })
    expect(await simulator.client.report()).toEqual({ since: null, pushes: 0, refused: [], findings: [] })
    await simulator.push('a', { totals: totals(1) })
    await sending('no JSON')(simulator)
    await simulator.client.state.reset()
    expect(await simulator.client.report()).toEqual({ since: null, pushes: 0, refused: [], findings: [] })
  })

  describe('counts refused pushes by the code of the answer', () => {
    const refusedBy = async ({ client }: TestSimulator, since?: Date) => (await client.report(since)).refused

    it('for invalid JSON, invalid UTF-8, another type, too long bodies, and refused keys', async () => {
      const simulator = await openSimulator({ bodyLimit: 1_000 })
      const latin1 = Buffer.from('{"name": "Caf\xe9"}', 'latin1')
      await sending('no JSON', latin1, latin1, '{}', 'x'.repeat(2_000))(simulator)
      const to = 'PUT /v1/checks/external/a'
      for (let times = 0; times < 2; times++)
        await simulator.call(to, { json: check(), headers: { 'content-type': 'text/plain' } })
      await simulator.call(to, { json: check(), key: 'twk_wrong' })
      await simulator.call(to, { json: check(), key: await simulator.key(['read']) })
      await simulator.call('PUT /v1/checks/external/a/b', { json: check() })
      const count = (found: FindingCode, reported: Awaited<ReturnType<typeof simulator.client.report>>) =>
        reported.findings.find(({ code }) => code === found)?.count
      const report = await simulator.client.report()
      expect(report.refused).toEqual([
        { status: 400, code: 'invalid_json', count: 3 },
        { status: 415, code: 'unsupported_media_type', count: 2 },
        { status: 401, code: 'unauthorized', count: 1 },
        { status: 403, code: 'insufficient_scope', count: 1 },
        { status: 404, code: 'not_found', count: 1 },
        { status: 413, code: 'payload_too_large', count: 1 },
        { status: 422, code: 'validation_failed', count: 1 },
      ])
      expect([count('push_refused', report), count('invalid_push_repeated', report)]).toEqual([8, 2])
      const { data } = await simulator.client.requests.list({ finding: 'push_refused' })
      expect(data.map(({ request_body }) => request_body)).toContain('{"name": "Caf\\xe9"}')
    })

    it('for conflicts, limits and injected errors, of which only an unrepeated 429 is a finding', async () => {
      const simulator = await openSimulator({ rateLimit: { requests: 2, seconds: 3_600 } })
      await inTurn(teaIsClaimed, pushing({}), failing({ error_rate: 1, error_status: 418 }))(simulator)
      await pushing({}, two, two)(simulator)
      expect(await simulator.client.report()).toMatchObject({
        pushes: 5,
        refused: [
          { status: 429, code: 'rate_limited', count: 2 },
          { status: 409, code: 'conflict_with_paid_items', count: 1 },
          { status: 418, code: 'fault_injected', count: 1 },
        ],
        findings: [{ code: 'push_refused', count: 1 }],
      })
    })

    it('for invalid HTTP, of which only an unrepeated push is a finding', async () => {
      const simulator = await openSimulator()
      const head = (id: string) => `PUT /v1/checks/external/${id} HTTP/1.1\r\n${rawHeaders(simulator)}`
      await simulator.raw(`${head('table 7')}\r\n`)
      await simulator.raw(
        `${head('a')}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nno chunk`,
      )
      await pushing({})(simulator)
      const { refused, findings } = await simulator.client.report()
      expect(refused).toEqual([{ status: 400, code: 'invalid_request', count: 2 }])
      expect(findings).toMatchObject([{ code: 'push_refused', count: 1 }])
      expect(findings[0]?.requests[0]?.message).toContain('Percent-encode the id')
    })

    it('with since, only those after it', async () => {
      const clock = createManualClock()
      const simulator = await openSimulator({ clock })
      await sending('no JSON')(simulator)
      clock.advance(60_000)
      await sending('{}')(simulator)
      expect(await refusedBy(simulator, clock.now())).toEqual([
        { status: 422, code: 'validation_failed', count: 1 },
      ])
    })
  })

  it('refuses an invalid since', async () => {
    const { call } = await openSimulator()
    expect(await call('GET /_sim/report?since=yesterday')).toMatchObject({ status: 400 })
  })
})
