import { describe, expect, test } from 'vitest'
import { owed, type Bill, type ClaimOnBill } from '../../../src/model/guests/shares.ts'
import { bill } from '../../operations/guests-fixtures.ts'

type Prices = Parameters<typeof bill>[0]
type Lines = Readonly<Record<string, number>>

const billOf = (prices: Prices, total: number, balance = total): Bill => ({
  ...bill(prices, total),
  balance_cents: balance,
})
const claimOf = (lines: Lines, index: number, status: ClaimOnBill['status'] = 'active'): ClaimOnBill => ({
  id: `clm_${index}`,
  status,
  items: Object.entries(lines).map(([external_id, quantity]) => ({ external_id, quantity })),
})
const amounts = (of: Bill, claims: readonly ClaimOnBill[]) => [...owed(of, claims).values()]

describe('amounts of claims', () => {
  test.each<[sentence: string, prices: Prices, total: number, claims: Lines[], owed: number[]]>([
    ['a share of the tax goes with the items', { a: 1000, b: 500 }, 1650, [{ a: 1 }], [1100]],
    ['a share of the discount goes with the items', { a: 1000, b: 500, off: -300 }, 1200, [{ a: 1 }], [800]],
    ['and of tax that prices include, none', { a: 1000, b: 500 }, 1500, [{ a: 1 }, { b: 1 }], [1000, 500]],
    ['half a cent is rounded up', { a: 1, b: 1 }, 1, [{ a: 1 }], [1]],
    ['less than half a cent is rounded down', { a: 1, b: 2 }, 1, [{ a: 1 }], [0]],
    [
      'the one that completes the check owes the rest',
      { a: [1, 3] },
      100,
      [{ a: 1 }, { a: 1 }, { a: 1 }],
      [33, 33, 34],
    ],
    [
      'and less than its share, when others rounded up',
      { a: [1, 4] },
      2,
      [{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }],
      [1, 1, 0, 0],
    ],
    [
      'while something is unclaimed, no claim owes the rest',
      { a: [1, 3] },
      100,
      [{ a: 1 }, { a: 1 }],
      [33, 33],
    ],
    ['quantities may be fractions', { pizza: 999 }, 1000, [{ pizza: 0.333 }, { pizza: 0.667 }], [333, 667]],
    [
      'fractions that binary numbers hold inexactly count exactly',
      { pizza: [1000, 2] },
      2000,
      [{ pizza: 1.001 }, { pizza: 0.999 }],
      [1001, 999],
    ],
    ['lines that the check no longer has owe nothing', { off: -100 }, 100, [{ gone: 1 }], [0]],
    [
      'free items owe nothing, even when claimed last',
      { a: [1, 3], b: 0 },
      100,
      [{ a: 1 }, { a: 1 }, { a: 1 }, { b: 1 }],
      [33, 33, 34, 0],
    ],
    [
      'when all items are free, every unit owes the same part of a charge',
      { a: 0, b: [0, 3] },
      100,
      [{ a: 1 }, { b: 3 }],
      [25, 75],
    ],
    ['a total of 0 leaves nothing to pay', { a: 1000, off: -1000 }, 0, [{ a: 1 }], [0]],
  ])('%s', (_sentence, prices, total, claims, expected) => {
    expect(
      amounts(
        billOf(prices, total),
        claims.map((lines, index) => claimOf(lines, index)),
      ),
    ).toEqual(expected)
  })

  test('are exact whole cents beyond the precision of doubles', () => {
    const most = Number.MAX_SAFE_INTEGER
    const of = billOf({ a: [most, 3] }, most)
    const claims = [0, 1, 2].map((index) => claimOf({ a: 1 }, index))
    expect(amounts(of, claims)).toEqual([3002399751580330, 3002399751580330, 3002399751580331])
  })

  test('follow the balance: payments by amount reduce the youngest claims first', () => {
    const claims = [claimOf({ a: 1 }, 0), claimOf({ a: 1 }, 1), claimOf({ a: 1 }, 2)]
    expect(amounts(billOf({ a: [100, 4] }, 400, 130), claims)).toEqual([100, 30, 0])
    expect(amounts(billOf({ a: [100, 4] }, 400, -50), claims)).toEqual([0, 0, 0])
  })

  test('count paid claims, but not released ones', () => {
    const claims = [claimOf({ a: 1 }, 0, 'paid'), claimOf({ a: 1 }, 1, 'released'), claimOf({ a: 1 }, 2)]
    expect(amounts(billOf({ a: [100, 2] }, 201, 100), claims)).toEqual([100])
    expect(amounts(billOf({ a: [100, 3] }, 301, 200), claims)).toEqual([100])
  })
})
