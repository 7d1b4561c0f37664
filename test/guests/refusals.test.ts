import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/client.ts'
import type { GuestAct, GuestsWanted } from '../../src/guests/play.ts'
import { playGuests } from '../../src/guests/play.ts'
import type { Check } from '../../src/model/check.ts'
import { roundToThousandths } from '../../src/model/guests/claimed-items.ts'

type Calls = Parameters<typeof playGuests>[0]

const item = { external_id: 'a', name: 'Soup', quantity: 2, price_cents: 500, note: null }

/** A service with one check, whose calls can be replaced. */
function createService(replaced: Partial<Calls> = {}) {
  const check: Check = {
    id: 'chk_1',
    external_id: 'table-4',
    location_id: 'loc_1',
    table: { number: '4' },
    status: 'open',
    items: [{ ...item, claimed_quantity: 0, paid_quantity: 0 }],
    totals: { subtotal_cents: 1000, tax_cents: 0, total_cents: 1000 },
    revision: null,
    paid_cents: 0,
    balance_cents: 1000,
    created_at: '2026-11-21T18:00:00.000Z',
    updated_at: '2026-11-21T18:00:00.000Z',
    closed_at: null,
  }
  const queries: unknown[] = []
  let made = 0
  const calls = {
    checks: {
      async *all(query: unknown) {
        queries.push(query)
        yield structuredClone(check)
      },
    },
    claim: async (_id: string, { items }: { items: { quantity: number }[] }) => {
      const [line] = check.items
      if (line !== undefined)
        line.claimed_quantity = roundToThousandths(line.claimed_quantity + (items[0]?.quantity ?? 0))
      return { id: `clm_${++made}` }
    },
    release: async (id: string) => ({ id }),
    pay: async (_id: string, { amount_cents = check.balance_cents, tip_cents = 0, claim_ids = [] }) => {
      const paid = Math.min(amount_cents, check.balance_cents)
      check.balance_cents -= paid
      check.paid_cents += paid
      return { id: `pay_${++made}`, amount_cents: paid, tip_cents, claim_ids }
    },
    refund: async (id: string) => ({ id }),
    rate: async () => ({ id: 'fbk_1' }),
    advance: async () => ({}),
    stream: async function* () {},
    ...replaced,
  } as unknown as Calls
  const acts: GuestAct[] = []
  const play = (wanted: GuestsWanted = {}) => playGuests(calls, { onAct: (act) => acts.push(act), ...wanted })
  return { calls, check, queries, acts, play }
}

const refusal = (status: number, code: string) => new ApiError(status, { code, message: 'No.' }, 'req_1')

describe('guests whose acts are refused', () => {
  test.each([
    [409, 'not_claimable'],
    [404, 'not_found'],
    [422, 'validation_failed'],
  ])('with %i %s give the check up after five refusals in a row', async (status, code) => {
    const refuse = () => Promise.reject(refusal(status, code))
    const { acts, play } = createService({ claim: refuse, pay: refuse })
    expect(await play()).toMatchObject({
      acts: { claim: 0, pay: 0, refused: 5 },
      stuck: ['table-4'],
      paid_cents: 0,
    })
    expect(acts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
    for (const act of acts)
      expect(act).toMatchObject({
        act: 'refused',
        tried: expect.stringMatching(/^(claim|pay)$/) as string,
        code,
        message: 'No.',
        external_check_id: 'table-4',
        location_id: 'loc_1',
      })
  })

  test('begin to count again after an act that succeeds', async () => {
    let tries = 0
    const service = createService()
    const { pay } = service.calls
    // Four refusals before each payment.
    service.calls.pay = (...given) =>
      ++tries % 5 === 0 ? pay(...given) : Promise.reject(refusal(409, 'exceeds_balance'))
    const { acts, paid_cents, stuck } = await service.play({ seed: 3 })
    expect({ paid_cents, stuck }).toEqual({ paid_cents: 1000, stuck: [] })
    expect(acts.refused).toBe(4 * acts.pay)
    expect(acts.pay).toBeGreaterThan(1)
  })

  test('try another card when one is declined, as often as it takes', async () => {
    let declined = 0
    const service = createService()
    const { pay } = service.calls
    service.calls.pay = (...given) =>
      ++declined > 7 ? pay(...given) : Promise.reject(refusal(402, 'card_declined'))
    const { acts, paid_cents, stuck } = await service.play()
    expect(acts).toMatchObject({ decline: 7, refused: 0 })
    expect({ paid_cents, stuck }).toEqual({ paid_cents: 1000, stuck: [] })
    expect(service.acts.find(({ act }) => act === 'decline')).toMatchObject({ message: 'No.' })
  })
})

describe('guests stop', () => {
  test.each([
    refusal(401, 'unauthorized'),
    refusal(503, 'storage_unavailable'),
    refusal(404, 'no_such_path'),
    new TypeError('x is undefined'),
  ])('with the error of an act that is no refusal: %s', async (error) => {
    const fail = () => Promise.reject(error)
    await expect(createService({ claim: fail, pay: fail }).play()).rejects.toBe(error)
  })

  test('with the error of a move of the clock, but not when the state was replaced meanwhile', async () => {
    const broken = refusal(503, 'storage_unavailable')
    const advance = () => Promise.reject(broken)
    await expect(createService({ advance }).play({ virtual: true })).rejects.toBe(broken)
    const replaced = () => Promise.reject(refusal(409, 'state_replaced'))
    const { paid_cents } = await createService({ advance: replaced }).play({ virtual: true, pace: 60_000 })
    expect(paid_cents).toBe(1000)
  })

  test('within a pause when the signal aborts', async () => {
    const end = new AbortController()
    const { play } = createService()
    const onAct = () => queueMicrotask(() => end.abort())
    const { acts } = await play({ pace: 3_600_000, signal: end.signal, onAct })
    expect(Object.values(acts).reduce((sum, count) => sum + count, 0)).toBe(1)
  })
})

test('guests move the clock by the pace after each round, and play at the given table only', async () => {
  const moves: string[] = []
  const advance = async (duration: string) => void moves.push(duration)
  const { queries, play } = createService({ advance } as unknown as Partial<Calls>)
  const report = await play({ virtual: true, pace: 90_000, table: '4', guests: 1, seed: 3 })
  expect(report).toMatchObject({ location_id: 'loc_1', checks: 1, guests: 1 })
  const rounds = Object.values(report.acts).reduce((sum, count) => sum + count, 0)
  expect(moves).toEqual(Array.from({ length: rounds }, () => '1m30s'))
  expect(queries).toEqual(Array.from({ length: rounds + 1 }, () => ({ status: 'open', table: '4' })))
})

test.each<[wanted: object, message: string]>([
  [{ sed: 7 }, 'sed'],
  [{ seed: -1 }, 'seed must be a whole number of at least 0'],
  [{ guests: 0 }, 'guests must be a whole number from 1 to 12'],
  [{ guests: 13 }, 'guests must be a whole number from 1 to 12'],
])('the option %j is refused', async (wanted, message) => {
  await expect(createService().play(wanted as GuestsWanted)).rejects.toThrow(message)
})

test('guests neither move the clock nor wait unless they are asked to, and read checks of all tables', async () => {
  const advance = () => Promise.reject(new Error('The clock was moved.'))
  const { queries, play } = createService({ advance })
  expect(await play()).toMatchObject({ paid_cents: 1000, stuck: [] })
  expect(queries[0]).toEqual({ status: 'open' })
})
