import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'fast-string-width'
import { expect, test } from 'vitest'
import { renderCheckChanges, renderItemDiff } from '../../../src/cli/render/check.ts'
import { checkChanges, diffItems } from '../../../src/model/check-diff.ts'

const line = (external_id: string, name: string, quantity: number, price_cents: number) => ({
  external_id,
  name,
  quantity,
  price_cents,
  note: null,
})
const burger = line('a', 'Burger', 1, 1850)
const sashimi = line('b', '刺身盛り合わせ', 2, 2400)
const tea = line('c', 'ชาไทย ☕️', 1, 450)
const before = [burger, sashimi, tea]
const after = [{ ...tea, price_cents: 500 }, line('d', 'Plum Tart', 12, 780), burger]

const drawn = (columns: number) =>
  renderItemDiff(diffItems(before, after), after, columns).map((text) => stripVTControlCharacters(text))

test('removed, added and changed items align, in any script', () => {
  expect(drawn(80)).toEqual([
    '  -  2 × 刺身盛り合わせ        24.00  b',
    '  + 12 × Plum Tart              7.80  d',
    '  ~  1 × ชาไทย ☕️        4.50 → 5.00  c',
    '    1 item unchanged',
    '    the order of the items changed',
  ])
  const prices = drawn(80)
    .slice(0, 3)
    .map((text) => stringWidth(text.replace(/ {2}\w$/, '')))
  expect(new Set(prices).size).toBe(1)
})

test('on a narrow terminal names are cut between characters, and prices stay whole', () => {
  for (const text of drawn(34).slice(0, 3)) expect(stringWidth(text)).toBeLessThanOrEqual(34)
  expect(drawn(34)[0]).toMatch(/刺身盛.*… +24\.00/)
})

test('only the order of the remaining items counts as reordered', () => {
  expect(diffItems(before, [burger, tea]).reordered).toBeUndefined()
  expect(diffItems(before, [tea, burger]).reordered).toBe(true)
})

test('table, status and totals are printed with their old values', () => {
  const totals = { subtotal_cents: 100, tax_cents: 8, total_cents: 108 }
  const open = { table: { number: '12' }, status: 'open' as const, totals }
  const closed = {
    table: { number: '14' },
    status: 'closed' as const,
    totals: { ...totals, total_cents: 110 },
  }
  const [told = ''] = renderCheckChanges(checkChanges(open, closed))
  expect(stripVTControlCharacters(told)).toBe('  ~ table 12 → 14, status open → closed, total 1.08 → 1.10')
  expect(renderCheckChanges(checkChanges(open, open))).toEqual([])
})
