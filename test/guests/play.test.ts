import { describe, expect, test } from 'vitest'
import { createClient, type GuestAct } from '../../src/client.ts'
import { startSimulator } from '../../src/simulator.ts'
import { check, item, openSimulator, totals } from '../support/simulator.ts'

const CHECKS = process.env.npm_lifecycle_event === 'soak' ? 200 : 60

const menu = [
  ['Soup', 900],
  ['Pasta', 1450],
  ['Ale', 600],
  ['Steak', 2900],
  ['Cake', 650],
] as const

/** The body of one of many checks: 3 to 5 lines of 1 to 3 pieces, a tax, and a discount on each fifth. */
function bill(number: number) {
  const lines = menu.slice(number % 3).map(([name, price_cents], at) => ({
    ...item(`ln-${number}-${at}`, { name, price_cents }),
    quantity: 1 + ((number + at) % 3),
  }))
  const items = number % 5 === 0 ? [...lines, item('discount', { price_cents: -101 })] : lines
  const sum = items.reduce((cents, { quantity, price_cents }) => cents + quantity * price_cents, 0)
  const tax_cents = Math.round(sum * 0.0825)
  const totals = { subtotal_cents: sum, tax_cents, total_cents: sum + tax_cents }
  return { table: { number: String(number) }, status: 'open' as const, items, totals }
}

/** Plays on so many checks of a new seeded service; returns the acts, and the bytes of all events. */
async function evening(checks: number, seed: number) {
  const simulator = await startSimulator({ seed: 1, port: false })
  const client = createClient({ url: simulator.url, apiKey: simulator.apiKey, fetch: simulator.fetch })
  for (let number = 0; number < checks; number++) await client.checks.push(`bill-${number}`, bill(number))
  const acts: GuestAct[] = []
  const report = await client.guests.play({
    seed,
    virtual: true,
    pace: 2_000,
    onAct: (act) => acts.push(act),
  })
  const bodies: string[] = []
  for await (const { body } of client.events.all()) bodies.push(body)
  const ending = {
    checks: await allOf(client.checks.all()),
    payments: await allOf(client.payments.all()),
    feedback: await allOf(client.feedback.all()),
    clock: (await client.clock.show()).now,
    report: await client.report(),
  }
  await simulator.close()
  return { acts, bodies, report, ending }
}

async function allOf<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const record of records) found.push(record)
  return found
}

describe('guests who play', () => {
  test.each([-1_000, Number.NaN, 0.5])('refuse the pace %d', async (pace) => {
    const { client } = await openSimulator()
    await expect(client.guests.play({ pace })).rejects.toThrow('pace must be a whole number of at least 0')
  })

  test('repeat their actions with the same seed, and act differently with another', async () => {
    const [one, same, other] = [await evening(20, 7), await evening(20, 7), await evening(20, 8)]
    expect(same.acts).toEqual(one.acts)
    expect(same.bodies).toEqual(one.bodies)
    expect(other.acts).not.toEqual(one.acts)
    expect(one.bodies.length).toBeGreaterThan(100)
  })

  test(`pay ${CHECKS} checks to the cent, and use every kind of action`, async () => {
    const { acts, report, ending } = await evening(CHECKS, 3)
    expect(report).toMatchObject({ checks: CHECKS, stuck: [] })
    expect(report.guests).toBeGreaterThan(CHECKS * 2)
    for (const act of ['claim', 'release', 'pay', 'decline', 'refund', 'rate'] as const)
      expect([act, report.acts[act] > 0]).toEqual([act, true])
    expect(acts.map(({ number }) => number)).toEqual(acts.map((_, at) => at + 1))
    const sum = (of: number[]) => of.reduce((total, cents) => total + cents, 0)
    const paid = sum(ending.payments.map(({ amount_cents }) => amount_cents))
    expect(report.paid_cents).toBe(paid)
    expect(report.tip_cents).toBe(sum(ending.payments.map(({ tip_cents }) => tip_cents)))
    expect(report.tip_cents).toBeGreaterThan(0)
    expect(report.refunded_cents).toBe(sum(ending.payments.map(({ refunded_cents }) => refunded_cents)))
    expect(paid).toBe(sum(ending.checks.map(({ totals: { total_cents } }) => total_cents)))
    for (const {
      paid_cents,
      balance_cents,
      totals: { total_cents },
    } of ending.checks)
      expect(paid_cents + balance_cents).toBe(total_cents)
    expect(sum(ending.checks.map(({ balance_cents }) => balance_cents))).toBe(report.refunded_cents)
    expect(ending.feedback).toHaveLength(report.acts.rate)
    expect(Date.parse(ending.clock)).toBeGreaterThan(Date.parse(ending.payments.at(-1)?.created_at ?? ''))
  }, 60_000)

  test('pay items and checks that the POS adds later, and stop when their signal aborts', async () => {
    const { client, push } = await openSimulator()
    const end = new AbortController()
    const settled: Record<string, number> = {}
    const played = client.guests.play({
      seed: 2,
      untilPaid: false,
      signal: end.signal,
      onAct: (act) => {
        if (act.act === 'pay')
          settled[act.external_check_id] = (settled[act.external_check_id] ?? 0) + act.resource.amount_cents
      },
    })
    await push('a')
    await client.events.waitFor('check.fully_paid', { check: 'a' })
    await push('a', { items: [item('burger'), item('tea')], totals: totals(3700) })
    await push('b')
    await client.events.waitFor('check.fully_paid', { check: 'b' })
    await expect.poll(async () => (await client.checks.get('a')).paid_cents).toBe(3700)
    end.abort()
    const report = await played
    expect(report.checks).toBe(2)
    expect(settled).toEqual({ a: 3700, b: check().totals.total_cents })
  })

  test('are as many per check as requested', async () => {
    const { client, push } = await openSimulator()
    for (let number = 0; number < 20; number++) await push(`check-${number}`)
    expect(await client.guests.play({ guests: 1 })).toMatchObject({ checks: 20, guests: 20 })
  })

  test('play only at the given table, and do nothing when nothing is owed', async () => {
    const { client, push } = await openSimulator()
    expect(await client.guests.play()).toMatchObject({ checks: 0, paid_cents: 0 })
    await push('here', { table: { number: '5' } })
    await push('there', { table: { number: '6' } })
    await push('seated', { table: { number: '5' }, items: [], totals: totals(0) })
    await client.guests.play({ table: '5' })
    expect((await client.checks.get('here')).balance_cents).toBeLessThanOrEqual(0)
    expect((await client.checks.get('there')).paid_cents).toBe(0)
  })
})

describe('guests who play', () => {
  test('claim large quantities in few parts', async () => {
    const { client, push } = await openSimulator()
    for (let number = 0; number < 8; number++)
      await push(`rice-${number}`, {
        items: [item('rice', { quantity: 1_000_000, price_cents: 1 })],
        totals: totals(1_000_000),
      })
    const { acts, paid_cents, stuck } = await client.guests.play()
    expect({ paid_cents, stuck }).toEqual({ paid_cents: 8_000_000, stuck: [] })
    expect(acts.claim).toBeGreaterThan(0)
    expect(acts.claim).toBeLessThan(100)
  })

  test('continue after the state is replaced, also by checks with the same ids', async () => {
    const { client, push } = await openSimulator()
    const pushBill = async () => {
      for (let number = 0; number < 8; number++) await push(`bill-${number}`, bill(number))
    }
    await pushBill()
    const end = new AbortController()
    const seen: GuestAct[] = []
    let seated = false
    const replace = async () => {
      await client.state.reset()
      await pushBill()
      seated = true
    }
    let replacing: Promise<void> | undefined
    // The reset comes between two acts of a round, so that claims and checks of the guests vanish.
    const { paid_cents } = await client.guests.play({
      untilPaid: false,
      signal: end.signal,
      onAct: (act) => {
        seen.push(act)
        if (seen.length === 25) replacing = replace()
        if (seated && act.act === 'pay' && seen.length > 60) end.abort()
        if (seen.length > 5_000) end.abort()
      },
    })
    await replacing
    expect(seen.length).toBeLessThan(5_000)
    expect(paid_cents).toBeGreaterThan(0)
  })
})
