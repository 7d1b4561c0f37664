import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shuffled } from '../../src/assertions/convergence.ts'

const seed = fc.nat(2 ** 32 - 1)

test('the shuffled list keeps every element, and has the same order for the same seed', () => {
  const cases = fc.property(fc.array(fc.nat(9)), seed, (list, of) => {
    const order = shuffled(list, of)
    const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
    expect(sorted(order)).toEqual(sorted(list))
    expect(shuffled(list, of)).toEqual(order)
  })
  fc.assert(cases)
})

test('each order of three elements occurs about equally often', () => {
  const orders = Array.from({ length: 6_000 }, (_, index) => shuffled(['a', 'b', 'c'], index).join(''))
  for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
    const count = orders.filter((one) => one === order).length
    expect(count).toBeGreaterThan(850)
    expect(count).toBeLessThan(1_150)
  }
})
