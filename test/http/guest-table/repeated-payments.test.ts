import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amountOf, ownClaims } from '../../../src/pages/guest/money.ts'
import type { TableView } from '../../../src/model/guests/guest-table.ts'
import { check, errorOf, item, openSimulator } from '../../support/simulator.ts'
import { ann, bob, sitDown } from './table-page-fixtures.ts'

const total_cents = 8317
const dinner = check({
  items: [
    item('burger', { quantity: 3, price_cents: 1733 }),
    item('wine', { quantity: 1.45, price_cents: 999 }),
    item('bread', { price_cents: 301 }),
  ],
  totals: { subtotal_cents: 7000, tax_cents: 617, total_cents },
})

async function servedTable() {
  const simulator = await openSimulator()
  await simulator.push('a', dinner)
  const table = await sitDown(simulator)
  const pay = (guest: string, payment_number: number, body: object) =>
    table.post(guest, '/payments', { external_check_id: 'a', payment_number, ...body })
  return { ...simulator, table, pay }
}

describe('a repeated payment at the table', () => {
  it.each([['amount'], ['claims'], ['balance']])('of the %s is made once', async (kind) => {
    const { client, table, pay } = await servedTable()
    const items = [{ external_id: 'burger', quantity: 1 }]
    const claim = await table.post(ann, '/claims', { external_check_id: 'a', items })
    const { id } = claim.json as { id: string }
    const body = kind === 'amount' ? { amount_cents: 700 } : kind === 'claims' ? { claim_ids: [id] } : {}
    const answers = await Promise.all([1, 1, 1].map((number) => pay(ann, number, body)))
    const [first] = answers
    expect(first?.status).toBe(201)
    for (const { status, json } of answers) expect([status, json]).toEqual([201, first?.json])
    expect((await client.payments.list()).data).toEqual([first?.json])
    expect((await client.events.list({ type: 'payment.succeeded' })).data).toHaveLength(1)
  })

  it('keeps the amount that was paid first, also when the repeat has another', async () => {
    const { client, pay } = await servedTable()
    const first = await pay(ann, 1, { amount_cents: 700, tip_cents: 100 })
    expect((await pay(ann, 1, { amount_cents: 900 })).json).toEqual(first.json)
    expect(await client.checks.get('a')).toMatchObject({ paid_cents: 700 })
  })

  it('is refused when the page showed another amount, as a second tab of the guest does', async () => {
    const { client, pay } = await servedTable()
    const first = await pay(ann, 1, { amount_cents: 700, expected_cents: 700 })
    expect((await pay(ann, 1, { amount_cents: 700, expected_cents: 700 })).json).toEqual(first.json)
    const other = await pay(ann, 1, { expected_cents: total_cents })
    expect([other.status, errorOf(other).code]).toEqual([409, 'amount_changed'])
    expect(await client.checks.get('a')).toMatchObject({ paid_cents: 700 })
  })

  it('is counted per guest, and its number must not skip a payment', async () => {
    const { pay } = await servedTable()
    expect((await pay(ann, 1, { amount_cents: 700 })).status).toBe(201)
    expect((await pay(bob, 1, { amount_cents: 700 })).json).toMatchObject({ amount_cents: 700 })
    const skipped = await pay(bob, 3, { amount_cents: 700 })
    expect([skipped.status, errorOf(skipped)]).toMatchObject([
      422,
      { issues: [{ path: 'payment_number', message: 'must be at most 2, got 3' }] },
    ])
  })
})

/** The way of a request: its answer arrives or is lost, it arrives twice, or after requests that were sent later. */
const outcome = fc.constantFrom('answered', 'answered', 'lost', 'twice', 'late')
const guest = fc.constantFrom(ann, bob)
const step = fc.oneof(
  fc.record({
    kind: fc.constant('claim' as const),
    guest,
    outcome,
    item: fc.constantFrom('burger', 'wine', 'bread'),
  }),
  fc.record({ kind: fc.constant('release' as const), guest, outcome }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      guest,
      outcome,
      mode: fc.constantFrom('mine' as const, 'even' as const, 'all' as const),
      people: fc.integer({ min: 2, max: 5 }),
    }),
  },
)

describe('two guests on slow phones', () => {
  it('pay each cent once when requests are lost, repeated or late', { timeout: 60_000 }, async () => {
    const { client, push, table } = await servedTable()
    let made = 0
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const id = `run-${made++}`
      await push(id, dinner)
      const late: (() => Promise<unknown>)[] = []
      const tried = new Map<string, number>()
      const seen = async (who: string) => read(await table.state(who), id)
      const shown = { [ann]: await seen(ann), [bob]: await seen(bob) }
      for (const one of steps) {
        const view = shown[one.guest] ?? expect.fail()
        const request = requestOf(one, view, id)
        if (request === undefined) continue
        const [method, path, json] = request
        const send = () => table.ask(one.guest, method, path, json === undefined ? {} : { json })
        if (one.kind === 'pay')
          tried.set(
            one.guest,
            Math.max(tried.get(one.guest) ?? 0, view.payments.filter(({ mine }) => mine).length + 1),
          )
        if (one.outcome === 'late') late.push(send)
        else await Promise.all(one.outcome === 'twice' ? [send(), send()] : [send()])
        // Without an answer the page stays as it was, and the guest may press again.
        if (one.outcome === 'answered' || one.outcome === 'twice') shown[one.guest] = await seen(one.guest)
        addsUp(await seen(one.guest), tried.get(one.guest))
      }
      for (const send of late.toReversed()) await send()
      for (const who of [ann, bob]) {
        addsUp(await seen(who), tried.get(who))
      }
      const { balance_cents } = await seen(ann)
      const rest = { external_check_id: id, amount_cents: balance_cents }
      if (balance_cents > 0) expect((await table.post(bob, '/payments', rest)).status).toBe(201)
      const end = await seen(ann)
      expect(end.payments.reduce((sum, { amount_cents }) => sum + amount_cents, 0)).toBe(total_cents)
      const fully = await client.events.list({ type: 'check.fully_paid', external_check_id: id })
      expect(fully.data).toHaveLength(1)
      await push(id, { ...dinner, table: { number: 'gone' } })
    })
    await fc.assert(property, { numRuns: 25 })
  })
})

type View = TableView['checks'][number]

function read({ checks }: TableView, id: string): View {
  return (
    checks.find(({ external_id }) => external_id === id) ?? expect.fail(`check ${id} is not at the table`)
  )
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Returns the request that the page sends from what it last showed, or `undefined` when it offers none. */
function requestOf(one: Step, view: View, external_check_id: string): [string, string, object?] | undefined {
  if (one.kind === 'claim') {
    const items = [{ external_id: one.item, quantity: 1 }]
    return ['POST', '/claims', { external_check_id, items }]
  }
  const claims = ownClaims(view)
  if (one.kind === 'release') {
    const last = claims.at(-1)
    return last && ['DELETE', `/claims/${last.id}`]
  }
  const amount_cents = amountOf(view, one.mode, one.people)
  if (amount_cents <= 0) return undefined
  const payment_number = view.payments.filter(({ mine }) => mine).length + 1
  const paid =
    one.mode === 'mine'
      ? { claim_ids: claims.map(({ id }) => id), expected_cents: amount_cents }
      : { amount_cents }
  return ['POST', '/payments', { external_check_id, payment_number, ...paid }]
}

/** Expects exact sums, and no more payments of the guest than the highest number that the guest has sent. */
function addsUp({ payments, paid_cents, balance_cents, totals }: View, tried = 0): void {
  expect(payments.filter(({ mine }) => mine).length).toBeLessThanOrEqual(tried)
  const paid = payments.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  expect(paid).toBe(paid_cents)
  expect(paid_cents + balance_cents).toBe(totals.total_cents)
  expect(balance_cents).toBeGreaterThanOrEqual(0)
}
