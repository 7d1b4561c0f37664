import { describe, expect, it } from 'vitest'
import { isolated, minorUnitsIn, moneyIn } from '../../../src/model/text/money.ts'
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
    ['12,5', 2, 1250],
    ['12.', 2, 1200],
    ['1,000', 2, undefined],
    ['1.000', 3, 1000],
    ['1e3', 2, undefined],
    ['0x10', 2, undefined],
    ['.5', 2, 50],
    ['.', 2, undefined],
    ['1250', 0, 1250],
    ['12.5', 0, undefined],
  ])('a text %j in a currency with %i decimals comes to %s', (typed, digits, amount) => {
    expect(minorUnitsIn(typed, digits)).toBe(amount)
    expect(tipOf({ typed }, 1000, digits)).toBe(amount)
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

describe('a name within a sentence', () => {
  it.each([
    ['Ann', 'Ann'],
    ['דנה', '\u2068דנה\u2069'],
    ['\u202eAnn', '\u2068Ann\u2069'],
    ['Ann\u2069\u2067', '\u2068Ann\u2069'],
    ['A\nnn', '\u2068A\nnn\u2069'],
  ])('%j is isolated as %j unless it is ASCII', (name, text) => {
    expect(isolated(name)).toBe(text)
  })
})
