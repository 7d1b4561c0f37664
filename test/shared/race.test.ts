import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client.ts'
import { startSimulator, type Simulator } from '../../src/simulator.ts'
import { isSoak } from '../soak/seeded.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../support/postgres.ts'
import { check, item, totals } from '../support/simulator.ts'

const RUNS = isSoak ? 50 : 3
const ITEMS = 40
const PRICE = 100

/** Runs calls at once; returns how many succeeded, and the codes of the others. */
async function atOnce(calls: readonly (() => Promise<unknown>)[]) {
  const settled = await Promise.allSettled(calls.map((call) => call()))
  const codes = settled.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []))
  return { succeeded: settled.length - codes.length, codes: [...new Set(codes)] }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}

describe.skipIf(postgresPrograms === undefined)('three instances of one sandbox', () => {
  let database: Database
  let instances: Simulator[] = []
  beforeAll(async () => {
    database = await openTestDatabase()
    const start = () => startSimulator({ port: 0, store: database.url, sandbox: 'race' })
    instances = await Promise.all([start(), start(), start()])
  })
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.close()))
    await database.stop()
  })

  test.each(Array.from({ length: RUNS }, (_, run) => run + 1))(
    'create a check once, claim each item once and take each cent once, run %i',
    async (run) => {
      const clients = instances.map(({ url, apiKey }) => createClient({ url, apiKey }))
      const clientOf = (number: number) => {
        const client = clients[number % clients.length]
        if (client === undefined) throw new Error('there are three instances')
        return client
      }
      const id = `race-${run}`
      const total_cents = ITEMS * PRICE
      const push = check({
        items: Array.from({ length: ITEMS }, (_, n) => item(`i${n}`, { price_cents: PRICE })),
        totals: totals(total_cents),
      })
      const pushed: number[] = []
      await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const { url, apiKey } = instances[n % 3] ?? { url: '', apiKey: '' }
          const answer = await fetch(`${url}/v1/checks/external/${id}`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
            body: JSON.stringify({ ...push, revision: n }),
          })
          pushed.push(answer.status)
        }),
      )
      expect(pushed.filter((status) => status === 201)).toHaveLength(1)
      expect(pushed.filter((status) => status === 200)).toHaveLength(59)
      expect((await clientOf(run).checks.get(id)).revision).toBe(59)

      const claims = Array.from(
        { length: 90 },
        (_, n) => () =>
          clientOf(n).guests.claim(id, { items: [{ external_id: `i${n % ITEMS}`, quantity: 1 }] }),
      )
      const payments = Array.from(
        { length: 30 },
        (_, n) => () => clientOf(n).guests.pay(id, { amount_cents: total_cents / 20 }),
      )
      const [claimed, paid] = await Promise.all([atOnce(claims), atOnce(payments)])
      const { items, paid_cents, balance_cents } = await clientOf(run).checks.get(id)
      const shown = (await clientOf(run + 1).claims.list({ external_check_id: id, limit: 100 })).data
      expect(shown).toHaveLength(claimed.succeeded)
      expect(items.map(({ claimed_quantity }) => claimed_quantity).every((quantity) => quantity <= 1)).toBe(
        true,
      )
      expect(paid.succeeded).toBeLessThanOrEqual(20)
      const sum = (await clientOf(run + 2).payments.list({ external_check_id: id, limit: 100 })).data
        .map(({ amount_cents }) => amount_cents)
        .reduce((one, other) => one + other, 0)
      expect([sum, paid_cents + balance_cents]).toEqual([paid_cents, total_cents])
      expect(sum).toBe(paid.succeeded * (total_cents / 20))
    },
  )

  test.each(Array.from({ length: RUNS }, (_, run) => run + 1))(
    'let 90 claims take 40 items, and refuse the other 50, run %i',
    async (run) => {
      const clients = instances.map(({ url, apiKey }) => createClient({ url, apiKey }))
      const id = `claims-${run}`
      const total_cents = ITEMS * PRICE
      const push = check({
        items: Array.from({ length: ITEMS }, (_, n) => item(`i${n}`, { price_cents: PRICE })),
        totals: totals(total_cents),
      })
      await clients[0]?.checks.push(id, push)
      const claimed = await atOnce(
        Array.from(
          { length: 90 },
          (_, n) => async () =>
            clients[n % 3]?.guests.claim(id, { items: [{ external_id: `i${n % ITEMS}`, quantity: 1 }] }),
        ),
      )
      expect(claimed.succeeded).toBe(ITEMS)
      const after = await clients[1]?.checks.get(id)
      expect(after?.items.map(({ claimed_quantity }) => claimed_quantity)).toEqual(
        Array.from({ length: ITEMS }, () => 1),
      )
    },
  )
})
