import { describe, expect, test } from 'vitest'
import {
  chosenItems,
  claimIds,
  currenciesOf,
  readableCurrencies,
  readAmount,
  unclaimedItems,
} from '../../src/cli/guests.ts'
import { price } from '../../src/cli/render/text.ts'
import { ApiError, Unreachable } from '../../src/client.ts'

const item = (
  external_id: string,
  name: string,
  quantity: number,
  claimed_quantity = 0,
  price_cents = 500,
) => ({
  external_id,
  name,
  quantity,
  price_cents,
  note: null,
  claimed_quantity,
  paid_quantity: 0,
})
const items = [
  item('line-1', 'Copper Burger', 2),
  item('a=b', 'House Lemonade', 3, 1),
  item('line-3', 'Lemonade', 1, 1),
  item('line-4', 'Ham', 0.5, 0.2),
  item('line-5', 'Happy Hour', 1, 0, -300),
]
const chosen = (...words: string[]) => chosenItems({ external_id: 'table-4', items }, words)

test('the currencies of a service that ignores the cursor are read once', async () => {
  let pages = 0
  const list = async () => {
    pages += 1
    return { data: [{ id: 'loc_1', currency: 'JPY' }], next_cursor: 'same' }
  }
  expect(await currenciesOf({ locations: { list } as never })).toEqual({ loc_1: 'JPY' })
  expect(pages).toBe(2)
})

test('the currencies of another service are those of the locations that show one', async () => {
  const shownBy = (data: unknown) =>
    currenciesOf({ locations: { list: async () => ({ data, next_cursor: null }) } as never })
  expect(await shownBy([{ id: 'loc_1', currency: 'EUR' }, { id: 'loc_2' }])).toEqual({ loc_1: 'EUR' })
  expect(await shownBy('none')).toEqual({})
})

test('currencies that cannot be read do not turn a successful action into an error, but a bug does', async () => {
  const read = (error: Error) => readableCurrencies({ locations: { list: () => Promise.reject(error) } })
  expect(await read(new ApiError(503, { code: 'fault_injected' }, 'req_1'))).toEqual({})
  expect(await read(new Unreachable('The connection was reset.'))).toEqual({})
  await expect(read(new TypeError('x is undefined'))).rejects.toThrow('x is undefined')
})

describe('the items of a claim', () => {
  test.each([
    ['line-1', { external_id: 'line-1', quantity: 2 }],
    ['line-1=1', { external_id: 'line-1', quantity: 1 }],
    ['burger=1', { external_id: 'line-1', quantity: 1 }],
    ['COPPER', { external_id: 'line-1', quantity: 2 }],
    ['a=b', { external_id: 'a=b', quantity: 2 }],
    ['a=b=0.5', { external_id: 'a=b', quantity: 0.5 }],
    ['house lemonade', { external_id: 'a=b', quantity: 2 }],
    ['lemonade=1', { external_id: 'line-3', quantity: 1 }],
    ['ham', { external_id: 'line-4', quantity: 0.3 }],
  ])('%s is found by id, by name or by a part of the name', (word, expected) => {
    expect(chosen(word)).toEqual([expected])
  })

  test('without a rest is passed on, and the service refuses it', () => {
    expect(chosen('lemonade')).toEqual([{ external_id: 'line-3', quantity: 1 }])
  })

  test.each([
    ['soup', 'got "soup". To see its items, run: tabwire checks show table-4'],
    ['soup=2', 'got "soup". To see its items,'],
    ['', 'got "".'],
    ['burgre', 'got "burgre". Did you mean Burger? To see its items,'],
    ['line-9=1', 'got "line-9". Did you mean line-1?'],
  ])('that the check lacks (%j) is refused', (word, message) => {
    expect(() => chosen(word)).toThrow(`ITEM must match an item of check table-4, ${message}`)
  })

  test('the quantities of an item that is given twice are added', () => {
    expect(chosen('line-4=0.1', 'ham=0.2')).toEqual([{ external_id: 'line-4', quantity: 0.3 }])
  })

  test('a part of several names is refused with these names, and an invalid quantity is refused', () => {
    expect(() => chosen('a')).toThrow('line-4 (Ham), line-5 (Happy Hour)')
    expect(() => chosen('lemon')).toThrow('Pass one of these ids: a=b (House Lemonade), line-3 (Lemonade).')
    for (const word of ['burger=two', 'burger=0', 'burger=-1', 'burger=1e1', 'burger='])
      expect(() => chosen(word)).toThrow(
        `must have a quantity above 0, such as burger=2 or burger=0.5, got "${word}"`,
      )
  })

  test('all unclaimed items are selected, without discounts', () => {
    expect(unclaimedItems({ items })).toEqual([
      { external_id: 'line-1', quantity: 2 },
      { external_id: 'a=b', quantity: 2 },
      { external_id: 'line-4', quantity: 0.3 },
    ])
  })
})

describe('the claims to pay', () => {
  const claims = [
    { id: 'clm_1', guest_name: 'Anna', status: 'active' },
    { id: 'clm_2', guest_name: 'Ben', status: 'active' },
    { id: 'clm_3', guest_name: 'ANNA', status: 'active' },
    { id: 'clm_4', guest_name: 'Anna', status: 'paid' },
    { id: 'clm_5', guest_name: null, status: 'active' },
  ]

  /** Returns the ids for these words, and how often the claims were read. */
  async function pay(words: readonly string[], stored: readonly object[] = claims) {
    let reads = 0
    const all = async function* ({ external_check_id }: { external_check_id: string }) {
      expect(external_check_id).toBe('table-4')
      reads += 1
      yield* stored
    }
    return { ids: await claimIds({ claims: { all } } as never, 'table-4', words), reads }
  }

  test('are all active claims of a guest, each once, and the claims of other ids', async () => {
    const { ids, reads } = await pay(['clm_3', 'anna', 'clm_9', 'Ben'])
    expect(ids).toEqual(['clm_3', 'clm_1', 'clm_9', 'clm_2'])
    expect(reads).toBe(1)
  })

  test('are not read for ids alone', async () => {
    expect(await pay(['clm_4', 'clm_4'])).toEqual({ ids: ['clm_4'], reads: 0 })
  })

  test('of a guest without one are refused with the active claims', async () => {
    const refused = '--claim must be a claim id or a guest with an active claim, got "Zoe".'
    await expect(pay(['Zoe'])).rejects.toThrow(
      `${refused} Active claims: clm_1 (Anna), clm_2 (Ben), clm_3 (ANNA), clm_5.`,
    )
    await expect(pay(['Zoe'], claims.slice(3, 4))).rejects.toThrow(
      `${refused} This check has no active claims.`,
    )
  })
})

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
    expect(readAmount(text, currency, 'tip')).toBe(cents)
  })

  test.each(['0', '0.00', '0c'])('is above 0 for --amount, not %s', (text) => {
    expect(readAmount('0.01', 'USD', 'amount')).toBe(1)
    expect(() => readAmount(text, 'USD', 'amount')).toThrow(`--amount must be above 0, got "${text}".`)
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
  ])('%s is refused in %s', (text, currency) => {
    expect(() => readAmount(text, currency, 'tip')).toThrow(`--tip must be an amount in ${currency} such as`)
  })

  test.each([
    ['USD', ' in USD such as 12.50,'],
    ['JPY', ' in JPY such as 1250,'],
    ['KWD', ' in KWD such as 12.500,'],
    ['', ' such as 12.50,'],
  ])('in another form gets an example in the currency %j', (currency, example) => {
    expect(() => readAmount('1.', currency, 'tip')).toThrow(`--tip must be an amount${example}`)
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
