import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Check, Push } from '../../src/model/check.ts'
import { claimableQuantity, unclaimedQuantity } from '../../src/model/guests/claimed-items.ts'
import { evenShare } from '../../src/pages/guest/money.ts'
import { isSoak } from '../soak/seeded.ts'
import { bill, tableWith, type Quantities, type Table } from './guests-fixtures.ts'
import { refusalOf } from './push-fixtures.ts'

const RUNS = isSoak ? 1000 : 100

// Prices at which shares do not divide, free items, discounts; quantities of weighed goods and of thirds.
const anyPrice = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 7, 333, 1850, 99_999) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -500) },
)
const anyQuantity = fc.constantFrom(1, 2, 3, 0.333, 0.001, 1.275, 0.33333, 0.66667, 0.0004)
const anyTotal = fc.oneof(fc.constant(0), fc.nat(20), fc.nat(30_000))
const anyItems = fc.array(fc.tuple(anyPrice, anyQuantity), { minLength: 1, maxLength: 5 })
const anyBill = fc
  .tuple(anyItems, anyTotal, fc.constantFrom('open', 'open', 'open', 'closed'))
  .map(([items, total, status]) =>
    bill(Object.fromEntries(items.map((item, index) => [`i${index}`, item])), total, { status }),
  )

/** A part of something, in thousandths; 0 and more than all of it come up, too. */
const anyPart = fc.oneof(fc.constantFrom(1000, 1000, 500, 0, 1001), fc.nat(1000))
const anyStep = fc.oneof(
  fc.record({ do: fc.constant('claim'), which: fc.nat(4), and: fc.nat(4), part: anyPart }),
  fc.record({ do: fc.constant('release'), which: fc.nat(9) }),
  fc.record({ do: fc.constant('pay claim'), which: fc.nat(9) }),
  fc.record({ do: fc.constant('pay amount'), part: anyPart }),
  fc.record({ do: fc.constant('pay all') }),
  fc.record({ do: fc.constant('refund'), which: fc.nat(9), part: anyPart }),
  fc.record({ do: fc.constant('push'), body: anyBill }),
)
interface Step {
  do: string
  which?: number
  and?: number
  part?: number
  body?: Push
}

const refusals = [
  'conflict_with_paid_items',
  'not_claimable',
  'claim_not_active',
  'exceeds_balance',
  'exceeds_payment',
]

describe('no cent appears or vanishes', () => {
  test('for any actions of guests and the POS, in any order', () => {
    const holds = (first: Push, steps: readonly Step[]) => {
      const table = tableWith({ ...first, revision: 0 })
      for (const [index, step] of steps.entries()) {
        const [before, all] = [table.check(), table.everything()]
        let types: readonly string[] = []
        const refusal = refusalOf(() => (types = play(table, step, index + 1)))
        if (refusal !== undefined) {
          expect(refusals).toContain(refusal.code)
          expect(table.everything()).toBe(all)
        }
        moneyAddsUp(table)
        quantitiesAddUp(table)
        claimsOweTheBalance(table)
        crossesOnce(before, table.check(), types)
        if (step.do !== 'push') guestsPayNoMoreThanIsOwed(before, table.check())
        if (step.do.startsWith('pay')) allPaidIsNothingOwed(before, table.check())
      }
    }
    fc.assert(fc.property(anyBill, fc.array(anyStep, { maxLength: 25 }), holds), { numRuns: RUNS })
  })

  test('when guests claim everything and pay in any order', () => {
    const holds = (pushed: Push, cuts: readonly number[], order: readonly number[]) => {
      const table = tableWith({ ...pushed, status: 'open' })
      const { items, totals } = table.check()
      for (const cut of cuts) claimSome(table, cut)
      claimRest(table)
      const claims = table.claims()
      const total = items.some(({ price_cents }) => price_cents >= 0) ? totals.total_cents : 0
      expect(sum(table.amounts())).toBe(total)
      const types = shuffled(claims, order).flatMap(({ id }) =>
        table.check().balance_cents > 0 &&
        table.claims().some((one) => one.id === id && one.status === 'active')
          ? table.pay({ claim_ids: [id] }).types
          : [],
      )
      expect(sum(table.payments().map(({ amount_cents }) => amount_cents))).toBe(total)
      expect(table.check().balance_cents).toBe(totals.total_cents - total)
      expect(types.filter((type) => type === 'check.fully_paid')).toHaveLength(total > 0 ? 1 : 0)
    }
    const cuts = fc.array(fc.nat(), { maxLength: 6 })
    fc.assert(fc.property(anyBill, cuts, fc.array(fc.nat(), { maxLength: 12 }), holds), { numRuns: RUNS })
  })

  test('on a check of 1,000 items that 1,000 guests claim, tax and discount included', () => {
    const prices = Object.fromEntries(
      Array.from({ length: 999 }, (_, index) => [
        `i${index}`,
        [101 + index, index % 3 === 0 ? 0.333 : 2] as const,
      ]),
    )
    const table = tableWith(bill({ ...prices, off: -1234 }, 987_654))
    const claims = Object.entries(prices).map(([id, [, quantity]]) => table.claim({ [id]: quantity }).reply)
    expect(sum(table.amounts())).toBe(987_654)
    table.pay({ claim_ids: claims.slice(500).map(({ id }) => id) })
    const { types } = table.pay({ claim_ids: claims.slice(0, 500).map(({ id }) => id) })
    expect(types).toEqual(['payment.succeeded', 'check.fully_paid'])
    expect(table.check()).toMatchObject({ paid_cents: 987_654, balance_cents: 0 })
  })

  test('when a balance is split evenly', () => {
    const holds = (cents: number, ways: number) => {
      const table = tableWith(bill({ a: 100 }, cents))
      const types = Array.from({ length: ways }, () => {
        const { balance_cents } = table.check()
        const amount_cents = evenShare({ even_split_cents: cents, balance_cents }, ways)
        return amount_cents > 0 ? table.pay({ amount_cents }).types : []
      }).flat()
      expect(table.check().balance_cents).toBe(0)
      expect(types.filter((type) => type === 'check.fully_paid')).toHaveLength(cents > 0 ? 1 : 0)
    }
    fc.assert(fc.property(fc.nat(100_000), fc.integer({ min: 1, max: 12 }), holds))
  })
})

/** Runs one step; skips it when its target does not exist. */
function play(
  table: Table,
  { do: what, which = 0, and = 0, part = 0, body }: Step,
  revision: number,
): string[] {
  const { items, balance_cents } = table.check()
  const claim = table.claims()[which % Math.max(table.claims().length, 1)]
  const payment = table.payments()[which % Math.max(table.payments().length, 1)]
  const of = (amount: number) => Math.max(1, Math.floor((amount * part) / 1000))
  if (what === 'claim') {
    const wanted = [which, and].flatMap((index) => items[index % items.length] ?? [])
    return table.claim(
      Object.fromEntries(wanted.map((item) => [item.external_id, partOf(item.quantity, part)])),
    ).types
  }
  if (what === 'release' && claim !== undefined) return table.release(claim).types
  if (what === 'pay claim' && claim !== undefined) return table.pay({ claim_ids: [claim.id] }).types
  if (what === 'pay amount') return table.pay({ amount_cents: of(balance_cents) }).types
  if (what === 'pay all') return table.pay().types
  if (what === 'refund' && payment !== undefined)
    return table.refund(payment, part === 0 ? {} : { amount_cents: of(payment.amount_cents) }).types
  if (what === 'push' && body !== undefined) return table.push({ ...body, revision }).types
  return []
}

/** Asserts that the paid amount is the sum of payments, and the balance the rest of the total. */
function moneyAddsUp(table: Table): void {
  const { paid_cents, balance_cents, totals } = table.check()
  const kept = table.payments().map(({ amount_cents, refunded_cents }) => amount_cents - refunded_cents)
  expect(Math.min(0, ...kept)).toBe(0)
  expect(paid_cents).toBe(sum(kept))
  expect(balance_cents).toBe(totals.total_cents - paid_cents)
}

function quantitiesAddUp(table: Table): void {
  const { items, paid_cents, balance_cents } = table.check()
  const isFullyPaid = paid_cents > 0 && balance_cents <= 0
  for (const { external_id, quantity, claimed_quantity, paid_quantity } of items) {
    const held = (...statuses: string[]) =>
      sum(
        table
          .claims()
          .filter(({ status }) => statuses.includes(status))
          .flatMap(({ items }) => items.filter((item) => item.external_id === external_id))
          .map((item) => Math.round(item.quantity * 1000)),
      ) / 1000
    expect(claimed_quantity).toBe(held('active', 'paid'))
    expect(paid_quantity).toBe(isFullyPaid ? quantity : held('paid'))
    expect(claimed_quantity).toBeLessThanOrEqual(claimableQuantity(quantity))
  }
}

/** Active claims never owe more than the balance, and all of it once nothing that has a price is left unclaimed. */
function claimsOweTheBalance(table: Table): void {
  const { balance_cents, items } = table.check()
  const active = table.claims().filter(({ status }) => status === 'active')
  const owed = sum(active.map(({ amount_cents }) => amount_cents))
  const left = Math.max(balance_cents, 0)
  expect(owed).toBeLessThanOrEqual(left)
  const priced = items.filter(({ price_cents }) => price_cents > 0)
  const pricedIds = priced.map(({ external_id }) => external_id)
  const isComplete = priced.every(
    ({ claimed_quantity, quantity }) => claimed_quantity === claimableQuantity(quantity),
  )
  if (
    isComplete &&
    active.some((claim) => claim.items.some(({ external_id }) => pricedIds.includes(external_id)))
  )
    expect(owed).toBe(left)
}

/** `check.fully_paid` comes exactly once when the balance comes to 0 with something paid, and last. */
function crossesOnce(before: Check, after: Check, types: readonly string[]): void {
  const crosses = before.balance_cents > 0 && after.balance_cents <= 0 && after.paid_cents > 0
  expect(types.filter((type) => type === 'check.fully_paid')).toHaveLength(crosses ? 1 : 0)
  if (crosses) expect(types.at(-1)).toBe('check.fully_paid')
  if (before !== after) expect(after.updated_at > before.updated_at).toBe(true)
}

/** Only a POS that lowers the total can have guests have paid more than it. */
function guestsPayNoMoreThanIsOwed(before: Check, after: Check): void {
  expect(after.paid_cents).toBeLessThanOrEqual(Math.max(after.totals.total_cents, before.paid_cents))
}

/** The payment that pays the last of the items pays the last of the balance. */
function allPaidIsNothingOwed(before: Check, after: Check): void {
  if (isAllPaid(after) && !isAllPaid(before)) expect(after.balance_cents).toBe(0)
}

function isAllPaid({ items }: Check): boolean {
  const priced = items.filter(({ price_cents }) => price_cents > 0)
  return (
    priced.length > 0 &&
    priced.every(({ paid_quantity, quantity }) => paid_quantity >= claimableQuantity(quantity))
  )
}

function claimSome(table: Table, cut: number): void {
  const { items } = table.check()
  const item = items[cut % items.length]
  const quantity = item === undefined ? 0 : partOf(unclaimedQuantity(item), cut % 1000)
  if (item !== undefined && item.price_cents >= 0 && quantity > 0)
    table.claim({ [item.external_id]: quantity })
}

function claimRest(table: Table): void {
  const rest: [string, number][] = table
    .check()
    .items.filter(({ price_cents }) => price_cents >= 0)
    .map((item) => [item.external_id, partOf(unclaimedQuantity(item), 1000)])
  const left: Quantities = Object.fromEntries(rest.filter(([, quantity]) => quantity > 0))
  if (Object.keys(left).length > 0) table.claim(left)
}

/** So many thousandths of a quantity, itself in thousandths. */
function partOf(quantity: number, part: number): number {
  return Math.round(Math.round(quantity * 1000) * (part / 1000)) / 1000
}

function shuffled<T>(list: readonly T[], order: readonly number[]): T[] {
  return list
    .map((value, index) => ({ value, at: order[index] ?? 0 }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
