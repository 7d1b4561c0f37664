import { describe, expect, test } from 'vitest'
import { placeOfError, withOverrides } from '../../../src/cli/push/source.ts'
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

describe('the place where a text stops being JSON', () => {
  const text = '{"a":[true,null,-1.5e+10],\n "b":"x\\u00e9\\n\\"q",\n "c":{}}'

  test('is none in JSON', () => expect(placeOfError(text)).toBeUndefined())

  test('is the end of a text that was cut anywhere', () => {
    for (let end = 0; end < text.length; end += 1) {
      const lines = text.slice(0, end).split('\n')
      expect(placeOfError(text.slice(0, end))).toEqual({
        line: lines.length,
        column: (lines.at(-1) ?? '').length + 1,
      })
    }
  })

  test.each([
    ['a comma before the end', '{"a":1,\n}', 2, 1],
    ['a missing comma', '[1\n 2]', 2, 2],
    ['a name without quotes', '{\n  a:1}', 2, 3],
    ['a text in single quotes', "{'a':1}", 1, 2],
    ['a value without quotes', '{"status": open}', 1, 12],
    ['a number that is none', '{"a": NaN}', 1, 7],
    ['a line break in a text', '{"a":"x\ny"}', 1, 8],
    ['an unknown escape', '{"a":"\\x"}', 1, 8],
    ['a brace too many', '{"a":1}}', 1, 8],
    ['a comment', '// c\n{}', 1, 1],
  ])('is that of %s', (_what, wrong, line, column) => {
    expect(placeOfError(wrong)).toEqual({ line, column })
  })
})
