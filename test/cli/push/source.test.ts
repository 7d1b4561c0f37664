import { describe, expect, test } from 'vitest'
import { withOverrides } from '../../../src/cli/push/source.ts'
import { checkBody } from '../../support/cli.ts'

const overridden = (...overrides: string[]) => withOverrides(checkBody(), overrides, ['revision'])

describe('--override', () => {
  test.each([
    ['items[0].price_cents=900', { items: [{ price_cents: 900 }, {}] }],
    ['items.1.name=Plum=Tart', { items: [{}, { name: 'Plum=Tart' }] }],
    ['items[1].note=null', { items: [{}, { note: null }] }],
    ['items[0].quantity=lots', { items: [{ quantity: 'lots' }, {}] }],
    ['table.number=7', { table: { number: '7' } }],
    ['table={"number":"9"}', { table: { number: '9' } }],
    ['items=[]', { items: [] }],
    ['revision=3', { revision: 3 }],
  ])('%s changes the body', (override, expected) => {
    expect(overridden(override)).toMatchObject(expected)
  })

  test('applies several changes in order, and leaves the given body unchanged', () => {
    const body = checkBody()
    expect(withOverrides(body, ['status=closed', 'status=open', 'totals.tax_cents=1'])).toEqual({
      ...body,
      totals: { ...body.totals, tax_cents: 1 },
    })
    expect(body).toEqual(checkBody())
  })

  test.each([
    'items[0].prize=9',
    'items[2].name=Soup',
    'items[-1].name=Soup',
    'items[01a]=1',
    'tabel.number=7',
    'table.number.length=1',
    'constructor=1',
    '__proto__.polluted=1',
    'items.length=0',
  ])('%s is refused with the list of fields', (override) => {
    expect(() => overridden(override)).toThrow(
      /Fields: table\.number, status, items\[0–1\]\.external_id, .*, totals\.total_cents, revision\.$/,
    )
  })

  test.each(['status', '=open', ''])('%j is refused with an example', (override) => {
    expect(() => overridden(override)).toThrow(
      `--override must be path=value, such as totals.total_cents=900, got ${JSON.stringify(override)}.`,
    )
  })
})
