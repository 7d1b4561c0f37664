import { describe, expect, test } from 'vitest'
import type { Check, Push } from '../../src/model/check.ts'
import type { Claim } from '../../src/model/guests/records.ts'
import { permutations, sevenPushes, timeless } from '../support/orders.ts'
import { check, item } from '../support/simulator.ts'
import { checkAfter, claim, decide, refusalOf } from './push-fixtures.ts'

const orders = permutations(sevenPushes.map((_, index) => index))
const heldBurger = claim({ items: [{ external_id: 'burger', quantity: 2, price_cents: 1850 }] })

/** All the different ends that pushes come to, over every order of them, with the last of them sent once more. */
function endsOf(pushes: readonly Push[], first?: Check, claims: readonly Claim[] = []): unknown[] {
  const ends = orders.map((order) => {
    let state = first
    for (const index of [...order, pushes.length - 1]) {
      const pushed = pushes[index]
      if (pushed !== undefined) refusalOf(() => (state = decide(state, pushed, claims).reply.check))
    }
    return state === undefined ? 'none' : JSON.stringify(timeless(state))
  })
  return [...new Set(ends)].map((end) => JSON.parse(end) as unknown)
}

describe('seven pushes in each of their 5,040 orders, and the seventh again, end in one state', () => {
  const seventh = sevenPushes[6]
  const revised = sevenPushes.map((push, index) => ({ ...push, revision: [3, 1, 4, 9, 2, 6, 5][index] }))

  test('that of the seventh, without revisions', () => {
    expect(orders).toHaveLength(5040)
    expect(endsOf(sevenPushes)).toMatchObject([{ ...seventh, revision: null }])
  })

  test('that of the newest, with revisions', () => {
    expect(endsOf(revised)).toMatchObject([{ ...revised[3] }])
  })

  test('that of the only push that closes the check', () => {
    const closing: Push[] = sevenPushes.with(2, { ...sevenPushes[2], status: 'closed' } as Push)
    expect(endsOf(closing)).toMatchObject([{ ...closing[2], balance_cents: 0 }])
  })

  test('or one of two with claims: that of the newest push that was not refused', () => {
    const first = checkAfter(check({ items: [item('burger', { quantity: 2 })] }))
    // The fifth raises the price; the seventh is newer and has the earlier price, so it is refused after the fifth.
    const [fifth, last] = [revised[4], revised[6]]
    const ends = endsOf(revised, first, [heldBurger]) as Check[]
    expect(new Set(ends.map(({ revision }) => revision))).toEqual(new Set([fifth?.revision, last?.revision]))
  })
})
