import { describe, expect, test } from 'vitest'
import { readAmount } from '../../../src/cli/guests/amount.ts'
import { price } from '../../../src/cli/render/text.ts'

describe('a typed amount', () => {
  test.each([
    ['12.50', 'USD', 1250],
    ['12.5', 'USD', 1250],
    ['12', 'GBP', 1200],
    ['0.07', 'USD', 7],
    ['1250c', 'USD', 1250],
    ['1250', 'JPY', 1250],
    ['1.234', 'KWD', 1234],
    ['0', 'USD', 0],
    ['12', '', 1200],
  ])('%s in %s is %i minor units', (text, currency, cents) => {
    expect(readAmount(text, currency, 'amount')).toBe(cents)
  })

  test.each([
    ['1.234', 'USD'],
    ['1.5', 'JPY'],
    ['-3', 'USD'],
    ['1,50', 'USD'],
    ['12.', 'USD'],
    ['.5', 'USD'],
    ['', 'USD'],
    ['c', 'USD'],
    ['1e3', 'USD'],
    ['99999999999999999', 'USD'],
  ])('%s is none in %s', (text, currency) => {
    expect(() => readAmount(text, currency, 'tip')).toThrow(`--tip must be an amount in ${currency} such as`)
  })
})

test.each([
  [1350, 'USD', '$13.50'],
  [-5, 'GBP', '-£0.05'],
  [1350, 'JPY', '¥1,350'],
  [1350, 'no currency', '13.50'],
  [1350, undefined, '13.50'],
])('%i minor units of %s are shown as %s', (cents, currency, shown) => {
  expect(price(cents, currency)).toBe(shown)
})
