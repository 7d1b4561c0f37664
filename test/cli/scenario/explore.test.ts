import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { stateCheck } from '../../../src/cli/conformance/receiver.ts'
import { explore } from '../../../src/cli/scenario/explore/explore.ts'
import type { History } from '../../../src/cli/scenario/explore/history.ts'
import { playScenario } from '../../../src/cli/scenario/play.ts'
import { judgeBy, learnBy } from '../../../src/cli/scenario/receiver.ts'
import { createClient } from '../../../src/client.ts'
import { createAgreement, type Agreement } from '../../../src/conformance/receiver/agreement.ts'
import { NotJudged } from '../../../src/conformance/receiver/convergence/state-view.ts'
import { eventTypes } from '../../../src/model/event.ts'
import type { Check } from '../../../src/model/check.ts'
import { startSimulator, type StartedSimulator } from '../../../src/simulator.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { SECRET, startExploredReceiver, type IntakeName } from '../../support/explored-receiver.ts'
import { startReceiver, type Handle } from '../../support/https-receiver.ts'
import * as pos from '../../support/pos-histories.ts'

type Change = (json: unknown) => unknown

interface Wanted {
  seed?: number
  runs?: number
  receiver?: IntakeName
  /** The state of the receiver cannot be read any more once it has differed. */
  endsOnDifference?: boolean
  /** Changes the answers to GET at these paths. */
  changing?: { path: RegExp; change: Change }
}

function changed(fetch: StartedSimulator['fetch'], { path, change }: NonNullable<Wanted['changing']>) {
  return async (address: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(address, init)
    if (init.method !== 'GET' || !path.test(address) || !response.ok) return response
    return Response.json(change(await response.json()))
  }
}

function endingOnDifference(agreement: Agreement): Agreement {
  let isOver = false
  return {
    ...agreement,
    async differences(known, timeoutMs) {
      if (isOver) throw new NotJudged('The receiver has ended.')
      const found = await agreement.differences(known, timeoutMs)
      isOver = found.length > 0
      return found
    },
  }
}

let seedOfIds = 0

/** Explores with a receiver of that kind, or with none. The clock is frozen, and no two services make the same ids. */
async function exploring(
  histories: readonly History[],
  { seed = 1, runs = 500, receiver: name, endsOnDifference = false, changing }: Wanted,
) {
  const receiver = name && (await startExploredReceiver(name))
  const simulator = await startSimulator({
    port: false,
    network: 'any',
    seed: (seedOfIds += 1),
    allowHttpLoopback: true,
    disableAfter: 0,
  })
  const client = createClient({
    ...simulator,
    ...(changing && { fetch: changed(simulator.fetch, changing) }),
  })
  const { signal } = new AbortController()
  const state =
    receiver &&
    stateCheck({ 'state-url': receiver.stateUrl, 'state-header': [], seed: 1 }, { ca: [], insecure: false })
  const created = state && createAgreement(state, signal)
  const agreement = created && endsOnDifference ? endingOnDifference(created) : created
  try {
    if (receiver !== undefined && agreement !== undefined) {
      await client.endpoints.createWithSecret({
        url: receiver.url,
        event_types: [...eventTypes],
        signing_secret: SECRET,
      })
      await learnBy(client, agreement, 'revision')
    }
    const found = await explore({
      client,
      histories,
      orderBy: 'revision',
      agreement,
      runs,
      seed,
      signal,
      tell: () => undefined,
    })
    const { counterexample } = found
    const judged = agreement && { judge: judgeBy(client, agreement), isPaced: true }
    const repeated = counterexample && (await playScenario(counterexample.scenario, client, { ...judged }))
    return { ...found, repeated }
  } finally {
    await agreement?.close()
    await simulator.close()
    await receiver?.close()
  }
}

const seeds = Array.from({ length: isSoak ? 20 : 1 }, (_, at) => at + 1)
/** Deliveries take most of the time. */
const seedsWithReceiver = isSoak ? seeds : [3]
const LONG = isSoak ? 600_000 : 120_000

describe.each(sampled(['ordering by arrival', 'deduplicating by body'] as const, 2))(
  'a receiver %s',
  (receiver) => {
    test.each(seedsWithReceiver)(
      'is found with seed %i by at most six steps, which fail again when they are repeated',
      async (seed) => {
        const { counterexample, repeated, compared } = await exploring(pos.usual(), { seed, receiver })
        expect(compared).toEqual(
          expect.arrayContaining(['state', 'sum', 'lines[].qty', 'lines[].ref', 'card']),
        )
        expect(counterexample).toMatchObject({ code: 'receiver_disagrees' })
        expect(counterexample?.scenario.steps.length).toBeLessThanOrEqual(6)
        expect(repeated?.passed).toBe(false)
        expect(repeated?.steps.at(-1)).toMatchObject({
          step: { do: 'expect', receiver: 'agrees' },
          status: null,
        })
      },
      LONG,
    )
  },
)

test.runIf(isSoak)(
  'a receiver that ends while its counterexample is shrunk is an error',
  { timeout: LONG },
  async () => {
    const exploration = exploring(pos.usual(), {
      seed: 3,
      receiver: 'ordering by arrival',
      endsOnDifference: true,
    })
    await expect(exploration).rejects.toThrow('The receiver has ended.')
  },
)

test.runIf(isSoak).each(seeds)(
  'a receiver without deduplication is found with seed %i by a payment that it counts twice',
  async (seed) => {
    const { counterexample, repeated } = await exploring(pos.usual(), {
      seed,
      receiver: 'without deduplication',
    })
    expect(counterexample?.message).toMatch(
      /^The receiver's view of check \w+ disagrees with the service: card is (\d+), expected \d+ \(sum of payments\[\]\.amount_cents\)\.$/,
    )
    expect(counterexample?.scenario.steps.length).toBeLessThanOrEqual(6)
    expect(repeated?.passed).toBe(false)
  },
  LONG,
)

describe('a POS that repeats a stale push with a new revision', () => {
  test.each(seeds)(
    'is found with seed %i by at most six steps, which fail again when they are repeated',
    async (seed) => {
      const { counterexample, repeated } = await exploring(pos.stale(), { seed })
      expect(counterexample).toMatchObject({ code: 'stale_push_repeated' })
      expect(counterexample?.message).toMatch(
        /^Revision 3 \(03\) repeats the content of revision 1 \(01\): the items? .*"Hand-cut Fries".* that a guest (claimed|paid) would vanish, so the service refuses the push\.$/,
      )
      expect(counterexample?.scenario.steps.length).toBeLessThanOrEqual(6)
      expect(repeated?.steps.at(-1)).toMatchObject({ passed: false, status: 409 })
    },
  )
})

describe('no counterexample is found', () => {
  test.each(sampled(Object.keys(pos.honestHistories), 4))(
    'in a history %s',
    async (name) => {
      const history = pos.honestHistories[name]?.() ?? []
      for (const seed of isSoak ? [1, 2, 3] : [1]) {
        const { counterexample, runs } = await exploring(history, { seed, runs: isSoak ? 500 : 15 })
        expect({ counterexample, runs }).toEqual({ counterexample: null, runs: isSoak ? 500 : 15 })
      }
    },
    LONG,
  )

  test.each(['right', 'ordering by the time of the envelope'] as const)(
    'at a receiver %s',
    async (receiver) => {
      const runs = isSoak ? 500 : receiver === 'right' ? 10 : 5
      for (const seed of isSoak ? [1, 2, 3] : [1]) {
        const found = await exploring(pos.honest(), { seed, runs, receiver })
        expect(found).toMatchObject({ counterexample: null, runs })
      }
    },
    LONG,
  )
})

test('the same seed gives the same counterexample', async () => {
  const [one, other] = [await exploring(pos.stale(), { seed: 3 }), await exploring(pos.stale(), { seed: 3 })]
  expect([one.runs, one.counterexample]).toEqual([other.runs, other.counterexample])
})

/** Changes of the service's answers, as mistakes of a service would show. */
const mistakes: [code: string, path: RegExp, change: (json: never) => unknown][] = [
  [
    'balance_wrong',
    /\/v1\/checks\/external/,
    (check: Check) => ({ ...check, balance_cents: check.totals.total_cents }),
  ],
  ['payment_lost', /\/v1\/payments/, (list: object) => ({ ...list, data: [] })],
  ['claim_lost', /\/v1\/claims/, (list: object) => ({ ...list, data: [] })],
  ['not_converged', /\/v1\/checks\/external/, (check: Check) => ({ ...check, items: check.items.slice(1) })],
]

test.each(sampled(mistakes, 2))('a service with the mistake %s is found', async (code, path, change) => {
  const { counterexample } = await exploring(pos.usual(), { changing: { path, change: change as Change } })
  expect(counterexample?.code).toBe(code)
})

describe('a view that is learnt from examples', () => {
  interface Row {
    row: number
    refunded: boolean
    state: string
    lines: number
    /** As the last check event shows it, so that it does not follow a partial payment. */
    balance_cents: number
  }

  /** A receiver whose view is a row of a database: with its number, a flag, and the number of items that `count` returns. */
  function rowsOf(count: (items: number, before: number | undefined) => number): Handle {
    const rows = new Map<string, Row>()
    return (response, { method, url, body }) => {
      if (url === '/down') return response.writeHead(503).end()
      const row = rows.get(url.slice(1))
      if (method === 'GET') return response.writeHead(row ? 200 : 404).end(JSON.stringify(row))
      const { type, data } = JSON.parse(body.toString()) as {
        type: string
        data: Pick<Check, 'external_id' | 'status' | 'balance_cents'> & {
          items?: Check['items']
          external_check_id?: string
        }
      }
      const id = data.external_check_id ?? data.external_id
      const before = rows.get(id)
      const known = before ?? { row: rows.size + 1, refunded: false, state: '', lines: 0, balance_cents: 0 }
      const { status: state, items = [], balance_cents } = data
      if (type === 'payment.refunded') rows.set(id, { ...known, refunded: true })
      else if (type.startsWith('check.'))
        rows.set(id, { ...known, state, lines: count(items.length, before?.lines), balance_cents })
      return response.writeHead(204).end()
    }
  }

  /** Learns from the deliveries to the receiver alone, or to all endpoints. One of them does not accept any. */
  async function learnt(
    {
      count = (items: number) => items,
      ofAll = false,
    }: { count?: Parameters<typeof rowsOf>[0]; ofAll?: boolean },
    { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  ) {
    const receiver = await startReceiver({ answer: rowsOf(count) })
    const simulator = await startSimulator({
      port: false,
      network: 'any',
      allowHttpLoopback: true,
      disableAfter: 0,
    })
    const client = createClient(simulator)
    const asked = { 'state-url': `${receiver.url}{external_check_id}`, 'state-header': [], seed: 1 }
    const source = stateCheck(asked, { ca: [], insecure: false })
    if (source === undefined) throw new RangeError('The flags name no view.')
    const agreement = createAgreement(source, new AbortController().signal)
    onTestFinished(async () => {
      await agreement.close()
      await simulator.close()
      await receiver.close()
    })
    const register = (url: string) => client.endpoints.createWithSecret({ url, event_types: [...eventTypes] })
    const { id } = await register(receiver.url)
    await register(`${receiver.url}down`)
    await learnBy(client, agreement, 'revision', ofAll ? undefined : id)
    return { client, differences: judgeBy(client, agreement) }
  }

  const item = (external_id: string) => ({ external_id, name: external_id, quantity: 1, price_cents: 100 })
  /** The states of one check: an item, and then two. */
  const states = [
    { status: 'open', items: [item('a')], totals: { subtotal_cents: 100, tax_cents: 0, total_cents: 100 } },
    {
      status: 'closed',
      items: [item('a'), item('b')],
      totals: { subtotal_cents: 200, tax_cents: 0, total_cents: 200 },
    },
  ] as const

  test.each([
    ['agrees with a number of the row and a flag for refunds', (items: number) => items, []],
    [
      'differs where it has the number of items of the first push',
      (items: number, before = items) => before,
      [{ path: 'lines', fact: 'number of items', expected: 2, actual: 1 }],
    ],
  ])('%s', async (_what, count, found) => {
    const { client, differences } = await learnt({ count }, { onTestFinished })
    for (const [revision, state] of states.entries()) {
      await client.checks.push('bar', JSON.stringify({ ...state, table: { number: '4' }, revision }))
      await client.clock.advance('1s')
    }
    expect(await differences('bar')).toEqual(found)
  })

  test('does not take the balance that check events show for the total', async () => {
    const { client, differences } = await learnt({}, { onTestFinished })
    await client.checks.push('bar', JSON.stringify({ ...states[0], table: { number: '4' } }))
    await client.guests.pay('bar', {})
    await client.clock.advance('1s')
    expect(await differences('bar')).toEqual([])
  })

  test('is not learnt when one of all endpoints does not accept the examples', async () => {
    await expect(learnt({ ofAll: true }, { onTestFinished })).rejects.toThrow(
      'The receiver did not accept a valid delivery. It answered 503.',
    )
  })
})
