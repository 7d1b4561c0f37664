import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'fast-string-width'
import { expect, test } from 'vitest'
import { renderCheckChanges, renderChecks, renderItemDiff } from '../../../src/cli/render/check.ts'
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

const checkOf = (external_id: string) => ({
  id: 'chk_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
  external_id,
  location_id: 'loc_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
  status: 'open' as const,
  table: { number: '12' },
  items: [],
  totals: { subtotal_cents: 6750, tax_cents: 0, total_cents: 6750 },
  paid_cents: 0,
  balance_cents: 6750,
  revision: null,
  closed_at: null,
  created_at: '2026-11-21T18:04:05.000Z',
  updated_at: '2026-11-21T18:04:05.000Z',
})

test('a list shows external ids whole: below their rows on a terminal that is too narrow', () => {
  const ids = ['6f1d4c1a-0a7e-4f6b-8a55-2f3c9e7b1d01', 'bar']
  const list = (columns: number) =>
    stripVTControlCharacters(renderChecks(ids.map(checkOf), columns)).split('\n')
  expect(list(120)[1]).toMatch(/^6f1d4c1a-0a7e-4f6b-8a55-2f3c9e7b1d01 {2}12 /)
  expect(list(80)).toEqual([
    'TABLE  STATUS  ITEMS  TOTAL  BALANCE  UPDATED (UTC)',
    '12     open    0      67.50  67.50    2026-11-21 18:04:05',
    `  ${ids[0]}`,
    '12     open    0      67.50  67.50    2026-11-21 18:04:05',
    `  ${ids[1]}`,
  ])
  expect(stripVTControlCharacters(renderChecks([checkOf('bar')], 70)).split('\n')[1]).toMatch(/^bar {4}12 /)
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
