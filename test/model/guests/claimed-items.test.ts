import { expect, test } from 'vitest'
import { claimableQuantity, roundToThousandths } from '../../../src/model/guests/claimed-items.ts'

test.each([
  ['1.0005', 1.001],
  ['0.5005', 0.501],
  ['1.2345', 1.235],
  ['1.1235', 1.124],
  ['2.0015', 2.002],
  ['8.1005', 8.101],
  ['0.0015', 0.002],
  ['1.23449999', 1.234],
  ['999999.9995', 1_000_000],
  ['0.33333', 0.333],
  ['1e-7', 0],
])('%s rounds half up to thousandths: %s', (quantity, rounded) => {
  expect(roundToThousandths(Number(quantity))).toBe(rounded)
})

test('sums of binary fractions round to what was added', () => {
  expect(roundToThousandths(0.1 + 0.2)).toBe(0.3)
  expect(roundToThousandths(1.001 + 2.002 + 3.003)).toBe(6.006)
})

test('every quantity of at most three decimals stays as it is', () => {
  for (let thousandths = 1; thousandths <= 200_000; thousandths += 7) {
    const quantity = thousandths / 1000
    if (roundToThousandths(quantity) !== quantity) expect.fail(String(quantity))
  }
})

test('at least a thousandth can be claimed', () => {
  expect(claimableQuantity(1e-7)).toBe(0.001)
})
