import { describe, expect, it } from 'vitest'
import { moneyIn } from '../../../src/model/text/money.ts'
import { evenShare, tipOf } from '../../../src/pages/guest/money.ts'

describe('amounts of money', () => {
  it.each([
    ['USD', 'en-US', '$12.50'],
    ['EUR', 'de-DE', '12,50\u00a0€'],
    ['JPY', 'en-US', '¥1,250'],
    ['nonsense', 'en-US', '12.50'],
  ])('in %s for the language %s read %s', (currency, language, text) => {
    expect(moneyIn(currency, language)(1250)).toBe(text)
  })

  it.each([
    ['', 0],
    ['2', 200],
    ['2,5', 250],
    [' 2.50 ', 250],
    ['-1', undefined],
    ['1e3', undefined],
    ['9999999', undefined],
  ])('a tip typed as %j comes to %s', (typed, cents) => {
    expect(tipOf({ typed }, 1000, 2)).toBe(cents)
  })

  it.each([
    [300, 30],
    [60, 10],
    [3080, 3],
  ])('an even split of %i among %i is at most one rounding apart, for as many people', (total, people) => {
    const shares: number[] = []
    for (let left = total; left > 0; left -= shares.at(-1) ?? left)
      shares.push(evenShare({ even_split_cents: total, balance_cents: left }, people))
    expect(shares).toHaveLength(people)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(people)
  })

  it('the shares of an even split add up for any number of people', () => {
    for (const total of [1, 7, 100, 3080, 9999])
      for (let people = 2; people <= 30; people++) {
        let left = total
        for (let payments = 0; left > 0; payments++) {
          expect(payments).toBeLessThan(people)
          left -= evenShare({ even_split_cents: total, balance_cents: left }, people)
        }
        expect(left).toBe(0)
      }
  })
})
