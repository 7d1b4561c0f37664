import type { Check, Push } from '../../src/model/check.ts'
import { check, item, totals } from './simulator.ts'

/** Seven different states of one check; the last one is final. */
export const sevenPushes: readonly Push[] = [
  check(),
  check({ items: [item('tea'), item('burger')], totals: totals(3700) }),
  check({ items: [], totals: totals(0) }),
  check({ table: { number: '7' } }),
  check({ items: [item('burger', { quantity: 3, price_cents: 1950 })], totals: totals(5850) }),
  check({ items: [item('pie'), item('burger', { name: 'Another burger' })], totals: totals(3700) }),
  check({ items: [item('burger', { quantity: 2, note: 'rare' }), item('pie')], totals: totals(5550) }),
]

/** Every order of some values: 120 of five, 5,040 of seven. */
export function permutations<T>(values: readonly T[]): T[][] {
  if (values.length === 0) return [[]]
  return values.flatMap((value, index) =>
    permutations(values.toSpliced(index, 1)).map((rest) => [value, ...rest]),
  )
}

/** Returns a check without ids and times, by which checks with equal pushes differ. */
export function timeless(check: Check): object {
  const {
    id: _id,
    external_id: _external,
    created_at: _created,
    updated_at: _updated,
    closed_at,
    ...rest
  } = check
  return { ...rest, is_closed: closed_at !== null }
}
