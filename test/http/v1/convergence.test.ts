import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSoak } from '../../soak/seeded.ts'
import type { Check, Push } from '../../../src/model/check.ts'
import { item, openSimulator, totals } from '../../support/simulator.ts'

const anyPush: fc.Arbitrary<Push> = fc.record({
  table: fc.record({ number: fc.constantFrom('1', '2') }),
  status: fc.constantFrom('open', 'closed'),
  items: fc.subarray([item('burger'), item('tea', { quantity: 2 }), item('pie', { note: 'warm' })]),
  totals: fc.constantFrom(totals(0), totals(1850)),
  // Few revisions, so that two pushes often share one.
  revision: fc.integer({ min: 0, max: 4 }),
})

/** A set of pushes, and two orders in which each of them arrives, some more than once. */
const anyArrivals = fc.array(anyPush, { minLength: 1, maxLength: 5 }).chain((pushes) => {
  const again = fc.subarray(pushes)
  const arrival = again.chain((repeated) => {
    const all = [...pushes, ...repeated]
    return fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
  })
  return fc.tuple(arrival, arrival)
})

/** Fields that are equal for all orders of arrival. */
function content({
  id: _id,
  external_id: _external,
  created_at: _c,
  updated_at: _u,
  closed_at,
  ...rest
}: Check) {
  return { ...rest, is_closed: closed_at !== null }
}

test('out-of-order updates converge on the same state, and the newest event shows it', async () => {
  const { call, push, client } = await openSimulator()
  let runs = 0
  const finalState = async (external_id: string, arrival: readonly Push[]) => {
    for (const state of arrival) expect((await push(external_id, state)).status).toBeLessThan(300)
    const { text, json } = await call(`GET /v1/checks/external/${external_id}`)
    const [newest] = (await client.events.list({ external_check_id: external_id, limit: 1 })).data
    expect(newest?.body.endsWith(`"data":${text}}`)).toBe(true)
    return content(json as Check)
  }
  const converges = fc.asyncProperty(anyArrivals, async ([one, other]) => {
    const run = ++runs
    expect(await finalState(`one-${run}`, one)).toEqual(await finalState(`other-${run}`, other))
  })
  await fc.assert(converges, { numRuns: isSoak ? 30 : 12 })
})
