import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client.ts'
import { startSimulator, type StartedSimulator } from '../../src/simulator.ts'
import { isSoak } from '../soak/seeded.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../support/postgres.ts'
import { check, item, totals } from '../support/simulator.ts'

const RUNS = isSoak ? 50 : 3
const ITEMS = 40
const PRICE = 100

/**
 * Runs calls at once; returns how many succeeded. On a slow machine, a call may exceed the time limit of a statement and get
 * 503. Then it is not known whether the database has made its change: those are `unanswered`.
 */
async function atOnce(calls: readonly (() => Promise<unknown>)[]) {
  const settled = await Promise.allSettled(calls.map((call) => call()))
  const codes = settled.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []))
  const unanswered = codes.filter((code) => code === UNAVAILABLE).length
  return { succeeded: settled.length - codes.length, unanswered }
}

/** Fails unless the number is that of the calls that succeeded, plus at most the unanswered ones. */
function expectMade(number: number, { succeeded, unanswered }: Awaited<ReturnType<typeof atOnce>>): void {
  expect(number).toBeGreaterThanOrEqual(succeeded)
  expect(number).toBeLessThanOrEqual(succeeded + unanswered)
}

const UNAVAILABLE = 'storage_unavailable'

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}

describe.skipIf(postgresPrograms === undefined)('three instances of one sandbox', () => {
  let database: Database
  let instances: StartedSimulator[] = []
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
      let unanswered = 0
      await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const { url, apiKey } = instances[n % 3] ?? { url: '', apiKey: '' }
          const pushOnce = () =>
            fetch(`${url}/v1/checks/external/${id}`, {
              method: 'PUT',
              headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
              body: JSON.stringify({ ...push, revision: n }),
            })
          let answer = await pushOnce()
          for (; answer.status === 503; answer = await pushOnce()) unanswered += 1
          pushed.push(answer.status)
        }),
      )
      const succeeded = pushed.filter((status) => status === 201).length
      expect(succeeded).toBeLessThanOrEqual(1)
      expectMade(1, { succeeded, unanswered })
      expect(pushed.filter((status) => status === 200)).toHaveLength(60 - succeeded)
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
      expect(claimed.succeeded).toBeGreaterThan(0)
      expectMade(shown.length, claimed)
      expect(items.map(({ claimed_quantity }) => claimed_quantity).every((quantity) => quantity <= 1)).toBe(
        true,
      )
      expect(paid.succeeded).toBeGreaterThan(0)
      expect(paid.succeeded).toBeLessThanOrEqual(20)
      const sum = (await clientOf(run + 2).payments.list({ external_check_id: id, limit: 100 })).data
        .map(({ amount_cents }) => amount_cents)
        .reduce((one, other) => one + other, 0)
      expect([sum, paid_cents + balance_cents]).toEqual([paid_cents, total_cents])
      expectMade(sum / (total_cents / 20), paid)
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
      expectMade(ITEMS, claimed)
      const taken = (await clients[1]?.checks.get(id))?.items.map(({ claimed_quantity }) => claimed_quantity)
      expect(taken?.every((quantity) => quantity <= 1)).toBe(true)
      expectMade(taken?.filter((quantity) => quantity === 1).length ?? 0, claimed)
    },
  )
})
