import { describe, expect, test } from 'vitest'
import { contentOf, parsePush, unknownFields } from '../../src/model/check.ts'
import { Refusal } from '../../src/model/refusal.ts'

const item = { external_id: 'i1', name: 'Burger', quantity: 1, price_cents: 1250, note: '' }
const totals = { subtotal_cents: 1250, tax_cents: 100, total_cents: 1350 }
const body = { table: { number: '12' }, status: 'open', items: [item], totals }

describe('a push is accepted', () => {
  test.each<[string, object]>([
    ['as the specification shows it', {}],
    ['closed', { status: 'closed' }],
    ['with a table number of 1 character', { table: { number: '1' } }],
    ['with a table number of 64', { table: { number: 'x'.repeat(64) } }],
    ['without items', { items: [] }],
    ['with 1,000 items', { items: manyItems(1000) }],
    ['with revision 0', { revision: 0 }],
    ['with the greatest safe revision', { revision: Number.MAX_SAFE_INTEGER }],
    ['with a total of 0', totalsWith({ total_cents: 0 })],
    ['with a negative subtotal and tax', totalsWith({ subtotal_cents: -1, tax_cents: -1 })],
    ['with the greatest safe total', totalsWith({ total_cents: Number.MAX_SAFE_INTEGER })],
    ['with totals that do not add up', totalsWith({ total_cents: 1 })],
    ['with ids and names of 255', itemWith({ external_id: 'x'.repeat(255), name: 'x'.repeat(255) })],
    ['with a discount line', itemWith({ price_cents: -500 })],
    ['with a gift', itemWith({ price_cents: 0 })],
    ['with the smallest safe price', itemWith({ price_cents: Number.MIN_SAFE_INTEGER })],
    ['with a quantity of 3 decimals', itemWith({ quantity: 0.333 })],
    ['with a quantity of 16 decimals', itemWith({ quantity: 0.1 + 0.2 })],
    ['with the smallest quantity there is', itemWith({ quantity: Number.MIN_VALUE })],
    ['with a quantity of 1,000,000', itemWith({ quantity: 1_000_000 })],
    ['with the smallest quantity', itemWith({ quantity: 0.001 })],
    ['with a quantity that binary fractions blur', itemWith({ quantity: 1.005 })],
    ['with a note of 1,000', itemWith({ note: 'x'.repeat(1000) })],
    ['with a note of null', itemWith({ note: null })],
    ['with an id that objects have by birth', itemWith({ external_id: '__proto__' })],
    ['with text in any script', itemWith({ external_id: '№ 1', name: '鶏の唐揚げ 🍗', note: 'بدون ثوم' })],
  ])('%s', (_name, change) => {
    const valid = { ...body, ...change }
    expect(parsePush(valid)).toEqual(valid)
  })

  test('without a note, which becomes null', () => {
    const { note: _note, ...without } = item
    expect(parsePush({ ...body, items: [without] }).items).toEqual([{ ...item, note: null }])
  })
})

describe('a push is refused with the place and the reason', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'body must be an object, got null'],
    ['a list', [], 'body must be an object, got an empty array'],
    ['text', 'x', 'body must be an object, got a string'],
    ['nothing', undefined, 'body is required'],
    ['no table', without('table'), 'table is required'],
    ['no table number', { ...body, table: {} }, 'table.number is required'],
    ['a table number in digits', { ...body, table: { number: 12 } }, 'table.number must be a string'],
    [
      'an empty table number',
      { ...body, table: { number: '' } },
      'table.number must be at least 1 character long',
    ],
    [
      'a table number of 65',
      { ...body, table: { number: 'x'.repeat(65) } },
      'table.number must be at most 64',
    ],
    ['no status', without('status'), 'status is required'],
    ['another status', { ...body, status: 'paid' }, 'status must be "open" or "closed"'],
    ['a status in capitals', { ...body, status: 'OPEN' }, 'status must be "open" or "closed"'],
    ['no items', without('items'), 'items is required'],
    ['items by id', { ...body, items: { i1: item } }, 'items must be an array, got an object'],
    ['1,001 items', { ...body, items: manyItems(1001) }, 'items must have at most 1000 elements'],
    ['an item that is none', { ...body, items: [null] }, 'items[0] must be an object, got null'],
    ['no external_id', withItem({ external_id: undefined }), 'items[0].external_id is required'],
    [
      'an empty external_id',
      withItem({ external_id: '' }),
      'items[0].external_id must be at least 1 character',
    ],
    [
      'an external_id of 256',
      withItem({ external_id: 'x'.repeat(256) }),
      'items[0].external_id must be at most 255',
    ],
    ['an external_id in digits', withItem({ external_id: 1 }), 'items[0].external_id must be a string'],
    ['an external_id twice', { ...body, items: [item, item] }, 'items[1].external_id must be unique'],
    ['no name', withItem({ name: undefined }), 'items[0].name is required'],
    ['an empty name', withItem({ name: '' }), 'items[0].name must be at least 1 character long'],
    [
      'a name of 256',
      withItem({ name: 'x'.repeat(256) }),
      'items[0].name must be at most 255 characters long',
    ],
    ['no quantity', withItem({ quantity: undefined }), 'items[0].quantity is required'],
    ['a quantity of 0', withItem({ quantity: 0 }), 'items[0].quantity must be greater than 0'],
    ['a quantity of -0', withItem({ quantity: -0 }), 'items[0].quantity must be greater than 0'],
    ['a negative quantity', withItem({ quantity: -1 }), 'items[0].quantity must be greater than 0'],
    [
      'a quantity above 1,000,000',
      withItem({ quantity: 1_000_000.001 }),
      'items[0].quantity must be at most 1000000',
    ],
    ['a quantity in text', withItem({ quantity: '1' }), 'items[0].quantity must be a number, got a string'],
    [
      '1e400',
      JSON.parse(JSON.stringify(body).replace('"quantity":1', '"quantity":1e400')),
      'items[0].quantity',
    ],
    ['no price', withItem({ price_cents: undefined }), 'items[0].price_cents is required'],
    ['half a cent', withItem({ price_cents: 12.5 }), 'items[0].price_cents must be an integer, got 12.5'],
    [
      'a price in text',
      withItem({ price_cents: '1250' }),
      'items[0].price_cents must be a number, got a string',
    ],
    ['a price of null', withItem({ price_cents: null }), 'items[0].price_cents must be a number, got null'],
    ['a price of true', withItem({ price_cents: true }), 'items[0].price_cents must be a number, got true'],
    ['an unsafe price', withItem({ price_cents: 2 ** 53 }), 'items[0].price_cents must be'],
    ['an infinite price', withItem({ price_cents: Infinity }), 'items[0].price_cents must be'],
    [
      'a note of 1,001',
      withItem({ note: 'x'.repeat(1001) }),
      'items[0].note must be at most 1000 characters long',
    ],
    ['a note in digits', withItem({ note: 5 }), 'items[0].note must be a string'],
    ['no totals', without('totals'), 'totals is required'],
    ['no subtotal', withTotals({ subtotal_cents: undefined }), 'totals.subtotal_cents is required'],
    ['no tax', withTotals({ tax_cents: undefined }), 'totals.tax_cents is required'],
    ['no total', withTotals({ total_cents: undefined }), 'totals.total_cents is required'],
    ['a tax of half a cent', withTotals({ tax_cents: 0.5 }), 'totals.tax_cents must be an integer'],
    ['a negative total', withTotals({ total_cents: -1 }), 'totals.total_cents must be at least 0'],
    ['an unsafe subtotal', withTotals({ subtotal_cents: -(2 ** 53) }), 'totals.subtotal_cents must be'],
    ['a negative revision', { ...body, revision: -1 }, 'revision must be at least 0'],
    ['half a revision', { ...body, revision: 1.5 }, 'revision must be an integer'],
    ['a revision of null', { ...body, revision: null }, 'revision must be a number, got null'],
    ['a revision in text', { ...body, revision: '1' }, 'revision must be a number, got a string'],
  ])('%s', (_name, pushed, expected) => {
    expect(issuesOf(pushed)).toEqual([expect.stringMatching(`^${literally(expected)}`)])
  })

  const minor = 'Amounts are in minor units (cents), such as 1450'
  const { table, ...noTable } = body
  const { external_id: id, ...noId } = item
  test.each<[string, unknown, string[]]>([
    [
      'an amount with decimals',
      withItem({ price_cents: 14.5 }),
      [`items[0].price_cents must be an integer, got 14.5. ${minor}`],
    ],
    [
      'an amount that binary fractions blur',
      withTotals({ tax_cents: 1998.9999999999998 }),
      ['totals.tax_cents must be an integer, got 1998.9999999999998. Round the amount'],
    ],
    [
      'a quantity in text',
      withItem({ quantity: '2' }),
      ['items[0].quantity must be a number, got a string. Send a JSON number without quotes'],
    ],
    [
      'a time as revision',
      { ...body, revision: '2026-11-21T18:04:05Z' },
      ['revision must be a number, got a string. Send a time as a number, such as milliseconds since 1970'],
    ],
    [
      'names in capitals',
      { ...noTable, Table: table },
      ['table is required. Rename Table: names are in snake_case'],
    ],
    [
      'names in camel case',
      { ...body, items: [{ ...noId, externalId: id }] },
      ['items[0].external_id is required. Rename externalId: names are in snake_case'],
    ],
    [
      'an object around it',
      { check: body },
      [
        'table is required. Move the fields out of the object check',
        'status is required',
        'items is required',
        'totals is required',
      ],
    ],
    [
      'an object around some fields',
      { check: noTable },
      ['table is required', 'status is required', 'items is required', 'totals is required'],
    ],
    ['a name of other letters', { ...noTable, [`t${'_'.repeat(9)}able`]: table }, ['table is required']],
  ])('with advice: %s', (_name, pushed, expected) => {
    expect(issuesOf(pushed)).toEqual(expected)
  })

  test('for all reasons at once', () => {
    const items = [
      { ...item, quantity: 0 },
      { ...item, name: '', price_cents: 1.5 },
    ]
    expect(
      issuesOf({ items, totals: { ...totals, total_cents: -1 } }).map((issue) => issue.split(' ')[0]),
    ).toEqual([
      'table',
      'status',
      'items[0].quantity',
      'items[1].name',
      'items[1].price_cents',
      'totals.total_cents',
      'items[1].external_id',
    ])
  })

  test('as validation_failed, with a message that names the first and counts the rest', () => {
    const refuse = () => parsePush({ ...body, table: {}, status: 'paid' })
    expect(refuse).toThrow(Refusal)
    expect(refuse).toThrow(/^Invalid body: table\.number is required \(and 1 more, see issues\)\.$/)
  })
})

describe('unknown fields', () => {
  const strange = JSON.parse(`{
    "__proto__": { "isAdmin": true }, "constructor": 1, "paid_cents": 0, "status": "open",
    "table": { "number": "12", "seats": 4 },
    "items": [{ "external_id": "i1", "name": "Burger", "quantity": 1, "price_cents": 1250, "price": 12.5 }],
    "totals": { "subtotal_cents": 1250, "tax_cents": 100, "total_cents": 1350, "tip_cents": 0 }
  }`) as object
  const paths = [
    '__proto__',
    'constructor',
    'paid_cents',
    'table.seats',
    'items[0].price',
    'totals.tip_cents',
  ]

  test('are found at every level', () => expect(unknownFields(strange)).toEqual(paths))

  test('are dropped', () => {
    const push = parsePush(strange)
    expect(push).toEqual({ ...body, items: [{ ...item, note: null }] })
    expect(push).not.toHaveProperty('isAdmin')
  })

  test('are refused by strict mode, one by one', () => {
    expect(issuesOf(strange, { strict: true })).toEqual(
      paths.map((path) => `${path} is not a field of a check (strict mode)`),
    )
  })

  test('of a body that is not an object are an empty list', () => expect(unknownFields([1])).toEqual([]))
})

describe('contentOf', () => {
  const push = parsePush(body)

  test('is independent of the order of keys and of the revision', () => {
    const reversed = Object.fromEntries(Object.entries(body).toReversed())
    expect(contentOf(parsePush({ ...reversed, revision: 9 }))).toBe(contentOf(push))
  })

  test.each<[string, object]>([
    ['the table', { table: { number: '13' } }],
    ['the status', { status: 'closed' }],
    ['an item', itemWith({ note: 'no onion' })],
    ['the totals', totalsWith({ total_cents: 1351 })],
  ])('differs when %s differs', (_name, change) => {
    expect(contentOf(parsePush({ ...body, ...change }))).not.toBe(contentOf(push))
  })
})

function issuesOf(pushed: unknown, options: { strict?: boolean } = {}): string[] {
  try {
    parsePush(pushed, options)
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const issues = error.details.issues as { path: string; message: string }[]
    return issues.map(({ path, message }) => `${path} ${message}`)
  }
}

function manyItems(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({ ...item, external_id: `i${at}` }))
}

function itemWith(change: object): object {
  return { items: [{ ...item, ...change }] }
}

function totalsWith(change: object): object {
  return { totals: { ...totals, ...change } }
}

function withItem(change: object): object {
  return { ...body, ...itemWith(change) }
}

function withTotals(change: object): object {
  return { ...body, ...totalsWith(change) }
}

function without(field: keyof typeof body): object {
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== field))
}

function literally(text: string): string {
  return text.replaceAll(/[.[\]]/g, String.raw`\$&`)
}
