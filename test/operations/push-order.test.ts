import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import {
  contentOf,
  type Check,
  type OrderedPush,
  type Push,
  type StoredCheck,
} from '../../src/model/check.ts'
import type { Claim } from '../../src/model/guests/records.ts'
import { revisionTime, type Revision } from '../../src/model/revision.ts'
import { recencyOf as orderBy } from '../../src/operations/push-check.ts'
import { permutations } from '../support/orders.ts'
import { burger, checkAfter, claim, decide, fries, noon, push, refusalOf } from './push-fixtures.ts'

const order = (current: Check, pushed: OrderedPush) => orderBy(current, pushed, 'revision')
const less: Partial<Push> = { items: [burger] }

describe('two pushes with a revision', () => {
  const current = checkAfter(push({ revision: 5 }))

  test.each<[string, OrderedPush, string]>([
    ['the higher one is the state', push({ ...less, revision: 6 }), 'newer'],
    ['also when its content is the same', push({ revision: 6 }), 'newer'],
    ['a lower one is stale', push({ ...less, revision: 4 }), 'stale'],
    ['also when its content is the same', push({ revision: 4 }), 'stale'],
    ['0 is a revision like any other', push({ ...less, revision: 0 }), 'stale'],
    ['equal revision and equal content is a replay', push({ revision: 5 }), 'same'],
  ])('%s', (_sentence, pushed, expected) => expect(order(current, pushed)).toBe(expected))

  test('of equal revisions with different content, the greater text wins on both orders of arrival', () => {
    const [a, b] = [push({ revision: 5 }), push({ ...less, revision: 5 })]
    const [smaller, greater] = contentOf(a) < contentOf(b) ? [a, b] : [b, a]
    expect(order(checkAfter(smaller), greater)).toBe('newer')
    expect(order(checkAfter(greater), smaller)).toBe('stale')
  })

  test('a higher revision reopens a closed check, a lower one does not', () => {
    const closed = checkAfter(push({ status: 'closed', revision: 5 }))
    expect(order(closed, push({ revision: 6 }))).toBe('newer')
    expect(order(closed, push({ revision: 4 }))).toBe('stale')
  })
})

describe('two pushes without a revision', () => {
  const open = checkAfter(push())
  const closed = checkAfter(push({ status: 'closed' }))

  test.each<[string, Check, Push, string]>([
    ['the last to arrive counts', open, push(less), 'newer'],
    ['what is equal is a replay', open, push(), 'same'],
    ['a close counts', open, push({ status: 'closed' }), 'newer'],
    ['once closed, a push that would reopen is stale', closed, push(), 'stale'],
    ['also with other items', closed, push(less), 'stale'],
    ['once closed, a push that stays closed counts', closed, push({ ...less, status: 'closed' }), 'newer'],
    ['a replay of the close is a replay', closed, push({ status: 'closed' }), 'same'],
    ['a state that was superseded counts again', checkAfter(push(less), push()), push(less), 'newer'],
  ])('%s', (_sentence, check, pushed, expected) => expect(order(check, pushed)).toBe(expected))
})

describe('two pushes of which one has a revision', () => {
  const numbered = checkAfter(push({ revision: 5 }))

  test.each<[string, Check, Push, string]>([
    ['the state has one and the push has none: stale', numbered, push(less), 'stale'],
    ['unless it is identical', numbered, push(), 'same'],
    ['the push has one and the state none: it applies', checkAfter(push()), push({ revision: 0 }), 'newer'],
    ['also to reopen', checkAfter(push({ status: 'closed' })), push({ revision: 0 }), 'newer'],
  ])('%s', (_sentence, check, pushed, expected) => expect(order(check, pushed)).toBe(expected))
})

describe('with --order-by updated_at', () => {
  const at = (revision: Revision): OrderedPush => ({ ...push(less), revision })
  const current = { ...checkAfter(at('2026-11-21T18:00:00.500Z')), ordered_by: 'updated_at' }

  test.each<[string, OrderedPush, string]>([
    ['a later time is newer', at('2026-11-21T18:00:00.501Z'), 'newer'],
    ['an earlier one is stale', at('2026-11-21T18:00:00.499Z'), 'stale'],
    ['a microsecond counts', at('2026-11-21T18:00:00.500001Z'), 'newer'],
    ['the same time is a replay', at('2026-11-21T18:00:00.500Z'), 'same'],
    ['a time is newer than a number', push({ ...less, revision: Number.MAX_SAFE_INTEGER }), 'stale'],
    ['no time is stale', push(), 'stale'],
  ])('%s', (_sentence, pushed, expected) => expect(orderBy(current, pushed, 'updated_at')).toBe(expected))

  test.each<[string, StoredCheck, string]>([
    ['a revision of another field says nothing', checkAfter(push({ revision: 9 })), 'newer'],
    [
      'a revision of this field counts',
      { ...checkAfter(push({ revision: 9 })), ordered_by: 'version' },
      'stale',
    ],
  ])('after a restart that orders by version, %s', (_sentence, check, expected) =>
    expect(orderBy(check, push({ ...less, revision: 1 }), 'version')).toBe(expected),
  )

  test('a check with a revision of another field accepts pushes without one in order of arrival', () => {
    const known = checkAfter(push({ revision: 9 }))
    expect(orderBy(known, push(less), 'version')).toBe('newer')
    expect(orderBy(known, push(), 'version')).toBe('same')
  })

  test('stores the field with the revision, and no field without one', () => {
    const decided = (pushed: OrderedPush) => decide(undefined, pushed, [], noon, 'updated_at')
    const [stored] = decided(at('2026-11-21T18:00:00.000Z')).writes
    expect(stored).toMatchObject({ put: { ordered_by: 'updated_at', revision: '2026-11-21T18:00:00.000Z' } })
    expect(decided(push()).writes).not.toMatchObject([{ put: { ordered_by: 'updated_at' } }])
    expect(JSON.stringify(decided(at('2026-11-21T18:00:00.000Z')).events)).not.toContain('ordered_by')
  })
})

describe('pushes with revisions converge', () => {
  // Few of each, so that equal ones come up: numbers, and times with and without an offset.
  const anyRevision: fc.Arbitrary<Revision> = fc.oneof(
    fc.nat(2),
    fc
      .constantFrom('18:00:00Z', '19:00:00+01:00', '18:00:00.0001Z', '18:00:00.00010', '17:59Z')
      .map((time) => revisionTime(`2026-11-21T${time}`)),
  )
  // Few revisions and few contents, so that equal ones of either kind come up all the time.
  const anyPush = fc.record({
    table: fc.record({ number: fc.constantFrom('1', '2') }),
    status: fc.constantFrom('open', 'closed'),
    items: fc.subarray([burger, fries, { ...burger, external_id: 'tea', price_cents: 300 }]).chain(cheapened),
    totals: fc.constant({ subtotal_cents: 3500, tax_cents: 0, total_cents: 3500 }),
    revision: fc.nat(3),
  })
  const anySet = fc.array(anyPush, { minLength: 1, maxLength: 4 })
  const anyRepeats = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 4 })
  const anyClaims = fc.subarray([
    claim(),
    claim({ id: 'clm_2', status: 'paid', items: [{ external_id: 'fries', quantity: 1, price_cents: 500 }] }),
    claim({
      id: 'clm_3',
      status: 'released',
      items: [{ external_id: 'tea', quantity: 2, price_cents: 300 }],
    }),
  ])

  const anyFirst = fc
    .tuple(fc.option(fc.nat(3), { nil: undefined }), fc.constantFrom(0, 1500, 3500))
    .map(([revision, paid_cents]) => ({
      ...checkAfter(revision === undefined ? push() : push({ revision })),
      paid_cents,
      balance_cents: 3500 - paid_cents,
    }))

  test('in every order and with any duplications, with no check at first', () => {
    fc.assert(fc.property(anySet, anyRepeats, oneEnd), { numRuns: isSoak ? 300 : 100 })
  })

  test('in every order and with any duplications, with numbers and times in one field', () => {
    const anyOrdered = fc.array(
      fc.tuple(anyPush, anyRevision).map(([pushed, revision]) => ({ ...pushed, revision })),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(fc.property(anyOrdered, anyRepeats, oneEnd), { numRuns: isSoak ? 300 : 100 })
  })

  test('in every order and with any duplications, with guests’ claims and payments, wherever none is refused', () => {
    const converges = (first: Check, pushes: OrderedPush[], repeats: Repeats, claims: Claim[]) => {
      const ends = permutations(pushes).map((ordered) => endOf(first, repeated(ordered, repeats), claims))
      return ends.some(({ refused }) => refused > 0) || new Set(ends.map(({ shown }) => shown)).size === 1
    }
    fc.assert(fc.property(anyFirst, anySet, anyRepeats, anyClaims, converges), {
      numRuns: isSoak ? 300 : 100,
    })
  })

  test('a refused push changes nothing: the newest of the check and the accepted pushes wins', () => {
    const isNewest = (first: Check, pushes: OrderedPush[], repeats: Repeats, claims: Claim[]) => {
      for (const ordered of permutations(pushes)) {
        const { shown, taken } = endOf(first, repeated(ordered, repeats), claims)
        const candidates: (Check | OrderedPush)[] = [...(first.revision === null ? [] : [first]), ...taken]
        const newest = candidates.sort(byRevisionAndContent).at(-1) ?? first
        expect(shown).toBe(shownOf(newest))
      }
    }
    fc.assert(fc.property(anyFirst, anySet, anyRepeats, anyClaims, isNewest), { numRuns: isSoak ? 300 : 100 })
  })
})

type Repeats = readonly (readonly [which: number, where: number])[]

interface End {
  /** Revision and content. */
  shown: string
  /** The pushes that were not refused. */
  taken: OrderedPush[]
  refused: number
}

/** Whether every order of the pushes ends in one content and revision, and with an event that shows it. */
function oneEnd(pushes: OrderedPush[], repeats: Repeats): boolean {
  const ends = permutations(pushes).map((ordered) => endOf(undefined, repeated(ordered, repeats), []))
  return new Set(ends.map(({ shown }) => shown)).size === 1
}

function endOf(first: Check | undefined, pushes: readonly OrderedPush[], claims: Claim[]): End {
  let [check, shown]: [Check | undefined, string | undefined] = [first, first && JSON.stringify(first)]
  const taken: OrderedPush[] = []
  for (const pushed of pushes) {
    const refusal = refusalOf(() => {
      const { reply, events } = decide(check, pushed, claims)
      check = reply.check
      shown = events.at(-1)?.json ?? shown
      taken.push(pushed)
    })
    if (refusal !== undefined) expect(refusal.code).toBe('conflict_with_paid_items')
  }
  expect(shown).toBe(check && JSON.stringify(check))
  return {
    shown: check === undefined ? 'no check' : shownOf(check),
    taken,
    refused: pushes.length - taken.length,
  }
}

function shownOf(state: Check | OrderedPush): string {
  return `${state.revision} ${contentOf(state)}`
}

function byRevisionAndContent(one: Check | OrderedPush, other: Check | OrderedPush): number {
  const order = Number(one.revision) - Number(other.revision)
  return order === 0 ? (contentOf(one) < contentOf(other) ? -1 : 1) : order
}

function repeated(pushes: readonly OrderedPush[], repeats: Repeats): OrderedPush[] {
  const list = [...pushes]
  for (const [which, where] of repeats)
    list.splice(where % (list.length + 1), 0, ...pushes.slice(which % pushes.length).slice(0, 1))
  return list
}

function cheapened(items: Push['items']): fc.Arbitrary<Push['items']> {
  return fc
    .constantFrom(0, 0, 0, 100)
    .map((off) => items.map((item) => ({ ...item, price_cents: item.price_cents - off })))
}
