import { describe, expect, test } from 'vitest'
import type { Check, Push, PushedItem } from '../../src/model/check.ts'
import type { Claim } from '../../src/model/guests/records.ts'
import type { PushReply } from '../../src/operations/push-check.ts'
import type { Decision } from '../../src/operations/operation.ts'
import { burger, checkAfter, claim, decide, fries, noon, push, refusalOf } from './push-fixtures.ts'

const open = checkAfter(push())
const closed = checkAfter(push({ status: 'closed' }))

describe('a push of a new check', () => {
  test('creates the check, with all of its fields', () => {
    const { reply, writes } = decide(undefined, push({ revision: 7 }))
    const check = {
      id: 'chk_1',
      external_id: 'c-1',
      location_id: 'loc_1',
      table: { number: '12' },
      status: 'open',
      items: [
        { ...burger, claimed_quantity: 0, paid_quantity: 0 },
        { ...fries, claimed_quantity: 0, paid_quantity: 0 },
      ],
      totals: { subtotal_cents: 3500, tax_cents: 0, total_cents: 3500 },
      revision: 7,
      paid_cents: 0,
      balance_cents: 3500,
      created_at: noon.toISOString(),
      updated_at: noon.toISOString(),
      closed_at: null,
    }
    const json = JSON.stringify(check)
    expect(reply).toEqual({ outcome: 'created', check, before: null, json })
    expect(writes).toEqual([{ collection: 'checks', put: check, json }])
  })

  test('emits check.created', () => expect(types(decide(undefined, push()))).toEqual(['check.created']))

  test('that is already closed emits created and closed', () => {
    const decision = decide(undefined, push({ status: 'closed' }))
    expect(types(decision)).toEqual(['check.created', 'check.closed'])
    expect(decision.reply.check.closed_at).toBe(noon.toISOString())
  })

  test('owes its total_cents, also when the totals do not add up', () => {
    const totals = { subtotal_cents: 3000, tax_cents: 100, total_cents: 3500 }
    expect(decide(undefined, push({ totals })).reply.check.balance_cents).toBe(3500)
  })

  test('without a revision has the revision null', () => expect(open.revision).toBeNull())

  test('with a total of 0 is not fully paid, since nothing is paid', () => {
    const totals = { subtotal_cents: 0, tax_cents: 0, total_cents: 0 }
    expect(types(decide(undefined, push({ items: [], totals })))).toEqual(['check.created'])
  })
})

describe('a replay', () => {
  test.each([
    ['of an open check', open, push()],
    ['of a closed check', closed, push({ status: 'closed' })],
    ['with its revision', checkAfter(push({ revision: 3 })), push({ revision: 3 })],
    ['that has lost its revision', checkAfter(push({ revision: 3 })), push()],
    ['of a check that guests have claimed', checkAfter(push()), push(), [claim()]],
    ['with its keys in another order', open, reversedKeys(push())],
  ])(
    '%s writes nothing, emits no event and returns the check',
    (_name, check, pushed, claims: Claim[] = []) => {
      expect(decide(check, pushed, claims)).toEqual({
        reply: { outcome: 'unchanged', check, before: check, json: JSON.stringify(check) },
        writes: [],
        events: [],
      })
    },
  )
})

describe('a push that changes a single field is not a replay:', () => {
  const note = 'no salt'
  const totals = open.totals
  test.each<[field: string, changed: Push]>([
    ['table.number', push({ table: { number: '13' } })],
    ['status', push({ status: 'closed' })],
    ['totals.subtotal_cents', push({ totals: { ...totals, subtotal_cents: 3400 } })],
    ['totals.tax_cents', push({ totals: { ...totals, tax_cents: 1 } })],
    ['totals.total_cents', push({ totals: { ...totals, total_cents: 3600 } })],
    ['items', push({ items: [burger, fries, { ...fries, external_id: 'more' }] })],
    ['the order of items', push({ items: [fries, burger] })],
    ['items[1].external_id', push({ items: [burger, { ...fries, external_id: 'chips' }] })],
    ['items[1].name', push({ items: [burger, { ...fries, name: 'Chips' }] })],
    ['items[1].quantity', push({ items: [burger, { ...fries, quantity: 2 }] })],
    ['items[1].price_cents', push({ items: [burger, { ...fries, price_cents: 501 }] })],
    ['items[1].note', push({ items: [burger, { ...fries, note }] })],
    ['revision', push({ revision: 1 })],
  ])('%s', (_field, changed) => {
    const { reply, writes, events } = decide(open, changed)
    expect(reply).toMatchObject({ outcome: 'updated', check: { totals: changed.totals } })
    expect(writes).toMatchObject([{ collection: 'checks', put: reply.check }])
    expect(events).toHaveLength(1)
  })
})

describe('a stale push', () => {
  const current = checkAfter(push({ revision: 5 }))

  test.each([
    ['with a lower revision', push({ revision: 4, items: [burger] })],
    ['without the revision that the check has', push({ items: [burger] })],
  ])('%s changes nothing and returns the current check', (_name, pushed) => {
    expect(decide(current, pushed)).toEqual({
      reply: { outcome: 'stale', check: current, before: current, json: JSON.stringify(current) },
      writes: [],
      events: [],
    })
  })

  test('is not a conflict, even when it lacks claimed items', () => {
    expect(decide(current, push({ revision: 4, items: [] }), [claim()]).reply.outcome).toBe('stale')
  })
})

describe('a conflict', () => {
  test.each<[string, PushedItem[], object[]]>([
    ['a claimed item is absent', [fries], [{ reason: 'removed' }]],
    ['it came back under another id', [{ ...burger, external_id: 'b2' }, fries], [{ reason: 'removed' }]],
    ['it is cheaper by a cent', [{ ...burger, price_cents: 1499 }, fries], [{ reason: 'price_decreased' }]],
    ['it is fewer than claimed', [{ ...burger, quantity: 0.999 }], [{ reason: 'quantity_below_claimed' }]],
    [
      'it is cheaper and fewer',
      [{ ...burger, price_cents: 1, quantity: 0.5 }],
      [{ reason: 'price_decreased' }, { reason: 'quantity_below_claimed' }],
    ],
  ])('%s', (_name, items, reasons) => {
    const conflicts = reasons.map((reason) => ({ external_id: 'burger', claimed_quantity: 1, ...reason }))
    expect(conflictsOf(items, [claim()])).toEqual(conflicts)
  })

  test('is refused with conflict_with_paid_items, naming each item and reason', () => {
    const refusal = refusalOf(() => decide(open, push({ items: [fries] }), [claim()]))
    expect(refusal).toMatchObject({ code: 'conflict_with_paid_items' })
    expect(refusal?.message).toContain('burger (removed)')
    expect(refusal?.message).toContain('or release or refund their claims first.')
  })

  test('lists all items at once', () => {
    const both = [
      claim(),
      claim({ id: 'clm_2', items: [{ external_id: 'fries', quantity: 1, price_cents: 500 }] }),
    ]
    expect(conflictsOf([{ ...fries, price_cents: 400 }], both)).toEqual([
      { external_id: 'burger', reason: 'removed', claimed_quantity: 1 },
      { external_id: 'fries', reason: 'price_decreased', claimed_quantity: 1 },
    ])
  })

  test('counts paid claims like active ones', () => {
    expect(conflictsOf([fries], [claim({ status: 'paid' })])).toHaveLength(1)
  })

  test('does not count released claims', () => {
    expect(conflictsOf([fries], [claim({ status: 'released' })])).toEqual([])
  })

  test('adds up what several guests have claimed of one item', () => {
    const two = [claim(), claim({ id: 'clm_2', status: 'paid' })]
    expect(conflictsOf([{ ...burger, quantity: 1 }], two)).toEqual([
      { external_id: 'burger', reason: 'quantity_below_claimed', claimed_quantity: 2 },
    ])
  })

  test('adds quantities without the errors of binary fractions', () => {
    const [a, b] = [0.1, 0.2].map((quantity) =>
      claim({ items: [{ external_id: 'burger', quantity, price_cents: 1500 }] }),
    ) as [Claim, Claim]
    expect(conflictsOf([{ ...burger, quantity: 0.3 }], [a, b])).toEqual([])
  })

  test('compares quantities in thousandths, in which guests claim', () => {
    const precise = checkAfter(push({ items: [{ ...burger, quantity: 0.66667 }, fries] }))
    const whole = claim({ items: [{ external_id: 'burger', quantity: 0.667, price_cents: 1500 }] })
    expect(conflictsOf([{ ...burger, quantity: 0.6666 }], [whole], precise)).toEqual([])
    expect(conflictsOf([{ ...burger, quantity: 0.6664 }], [whole], precise)).toHaveLength(1)
  })

  test('compares a price with the current check, not with the time of the claim', () => {
    const raised = checkAfter(push(), push({ items: [{ ...burger, price_cents: 1800 }, fries] }))
    expect(conflictsOf([{ ...burger, price_cents: 1799 }], [claim()], raised)).toEqual([
      { external_id: 'burger', reason: 'price_decreased', claimed_quantity: 1 },
    ])
    expect(conflictsOf([{ ...burger, price_cents: 1800 }], [claim()], raised)).toEqual([])
  })

  test('ignores the price of a claim that was higher than the current one', () => {
    const earlier = claim({ items: [{ external_id: 'burger', quantity: 1, price_cents: 1800 }] })
    expect(conflictsOf([burger, fries], [earlier])).toEqual([])
  })

  test.each([
    ['renamed', [{ ...burger, external_id: 'b2' }, fries], 'Item burger looks renamed to b2.'],
    [
      'split in two new lines',
      [
        { ...burger, external_id: 'b2', quantity: 1 },
        { ...burger, external_id: 'b3', quantity: 1 },
      ],
      'Item burger looks split into b2, b3.',
    ],
    [
      'split, with a part kept',
      [
        { ...burger, quantity: 0.7 },
        { ...burger, external_id: 'b2', quantity: 1.3 },
      ],
      'Item burger looks split into burger, b2.',
    ],
  ])('says that an item looks %s', (_name, items, sentence) => {
    expect(refusalOf(() => decide(open, push({ items }), [claim()]))?.message).toContain(sentence)
  })

  const twin = { ...burger, external_id: 'b2', quantity: 1 }

  test('compares the quantities of a split in thousandths', () => {
    const sum = checkAfter(push({ items: [{ ...burger, quantity: 0.3 }, fries] }))
    const items = [0.1, 0.2].map((quantity) => ({ ...burger, external_id: `b${quantity}`, quantity }))
    expect(refusalOf(() => decide(sum, push({ items }), [claim()]))?.message).toContain('looks split')
  })

  test.each([
    ['another name', [{ ...burger, external_id: 'b2', name: 'Pie' }]],
    ['another price', [{ ...burger, external_id: 'b2', price_cents: 1501 }]],
    ['another quantity', [{ ...burger, external_id: 'b2', quantity: 3 }]],
    ['a line that was there before', [fries]],
    [
      'a cheaper line beside a new one at the old price',
      [{ ...twin, external_id: 'burger', price_cents: 1 }, twin],
    ],
  ])('does not mention a split for %s', (_name, items) => {
    expect(refusalOf(() => decide(open, push({ items }), [claim()]))?.message).not.toContain('looks')
  })

  test('does not change the check object that it was given', () => {
    const before = structuredClone(open)
    refusalOf(() => decide(open, push({ items: [] }), [claim()]))
    expect(open).toEqual(before)
  })
})

describe('a fully paid check', () => {
  const fully = paid(3500)

  test.each<[string, PushedItem[], object]>([
    ['removed', [fries], { external_id: 'burger', reason: 'removed', claimed_quantity: 2 }],
    [
      'cheaper',
      [burger, { ...fries, price_cents: 499 }],
      { external_id: 'fries', reason: 'price_decreased', claimed_quantity: 1 },
    ],
    [
      'fewer',
      [{ ...burger, quantity: 1.999 }, fries],
      { external_id: 'burger', reason: 'quantity_below_claimed', claimed_quantity: 2 },
    ],
  ])('protects an unclaimed item from being %s', (_name, items, conflict) => {
    expect(conflictsOf(items, [], fully)).toEqual([conflict])
    const message = refusalOf(() => decide(fully, push({ items })))?.message
    expect(message).toContain('items of a fully paid check')
    expect(message).toContain('or refund the payments first')
    expect(message).not.toContain('Guests paid more')
  })

  test('protects the whole quantity of an item that is claimed in part', () => {
    expect(conflictsOf([{ ...burger, quantity: 1 }, fries], [claim({ status: 'paid' })], fully)).toEqual([
      { external_id: 'burger', reason: 'quantity_below_claimed', claimed_quantity: 2 },
    ])
  })

  test('compares quantities in thousandths', () => {
    const sum = checkAfter(push({ items: [{ ...burger, quantity: 0.1 + 0.2 }, fries] }))
    const paidSum = { ...sum, paid_cents: 3500, balance_cents: 0 }
    expect(conflictsOf([{ ...burger, quantity: 0.3 }, fries], [], paidSum)).toEqual([])
    expect(conflictsOf([{ ...burger, quantity: 0.299 }, fries], [], paidSum)).toHaveLength(1)
  })

  test('protects its items when more was paid than the total', () => {
    expect(conflictsOf([fries], [], paid(4000))).toHaveLength(1)
  })

  test('accepts further items, which reopen the balance and end the protection', () => {
    const totals = total(3800)
    const tea = { ...fries, external_id: 'tea', price_cents: 300 }
    const { check } = decide(fully, push({ items: [burger, fries, tea], totals })).reply
    expect(check.balance_cents).toBe(300)
    expect(paidQuantities(check)).toEqual([0, 0, 0])
    expect(conflictsOf([burger, fries], [], check)).toEqual([])
  })

  test('shows the quantity of each item as its paid_quantity, after a push that leaves it fully paid', () => {
    const items = [{ ...burger, quantity: 3 }, fries]
    expect(paidQuantities(decide(fully, push({ items })).reply.check)).toEqual([3, 1])
  })

  test.each([
    ['one cent is owed', paid(3499)],
    ['nothing was paid', decide(open, push({ totals: total(0) })).reply.check],
  ])('needs a payment and no balance: items can be removed when %s', (_name, check) => {
    expect(conflictsOf([fries], [], check)).toEqual([])
  })
})

describe('no conflict', () => {
  test.each<[string, PushedItem[]]>([
    ['a claimed item that costs more', [{ ...burger, price_cents: 1501 }, fries]],
    ['another name and note', [{ ...burger, name: 'Cheeseburger', note: 'no onion' }, fries]],
    ['another place in the list', [fries, burger]],
    ['exactly what is claimed', [{ ...burger, quantity: 1 }, fries]],
    ['an unclaimed item removed', [burger]],
    ['an unclaimed item cheaper', [burger, { ...fries, price_cents: 1 }]],
  ])('%s', (_name, items) => expect(decide(open, push({ items }), [claim()]).reply.outcome).toBe('updated'))
})

describe('an applied push', () => {
  const items = [{ ...fries, quantity: 3 }, { ...burger, external_id: 'tea', name: 'Tea' }, burger]

  test('has the items of the push, in its order', () => {
    expect(decide(open, push({ items })).reply.check.items.map(({ external_id }) => external_id)).toEqual([
      'fries',
      'tea',
      'burger',
    ])
  })

  test('keeps claimed and paid quantities with the item of the same external_id', () => {
    const { check } = decide(open, push({ items }), [claim(), claim({ status: 'paid' })]).reply
    expect(check.items.map((item) => [item.claimed_quantity, item.paid_quantity])).toEqual([
      [0, 0],
      [0, 0],
      [2, 1],
    ])
  })

  test('keeps id and created_at of the check', () => {
    const { check } = decide(open, push({ items }), [], afterMs(60_000)).reply
    expect(check).toMatchObject({ id: open.id, created_at: open.created_at })
  })

  test('has the new total minus payments as balance', () => {
    const totals = { subtotal_cents: 5000, tax_cents: 0, total_cents: 5000 }
    expect(decide(paid(1500), push({ totals })).reply.check).toMatchObject({
      paid_cents: 1500,
      balance_cents: 3500,
    })
  })

  test('also returns the check before it', () => {
    expect(decide(open, push({ items })).reply).toMatchObject({ outcome: 'updated', before: open })
  })

  test('writes only the check that it returns and that its events contain', () => {
    const { reply, writes, events } = decide(open, push({ items, status: 'closed' }))
    const json = JSON.stringify(reply.check)
    expect(writes).toEqual([{ collection: 'checks', put: reply.check, json }])
    expect(events.map((event) => event.json)).toEqual([json, json])
    expect(events.map(({ external_check_id }) => external_check_id)).toEqual(['c-1', 'c-1'])
  })
})

describe('the events of a push, in order', () => {
  const cheaper = { subtotal_cents: 1500, tax_cents: 0, total_cents: 1500 }

  test.each<[string, Check, Push, string[]]>([
    ['a change of items', open, push({ items: [burger] }), ['check.updated']],
    ['another table', open, push({ table: { number: '14' } }), ['check.updated']],
    ['other totals', open, push({ totals: cheaper }), ['check.updated']],
    ['a new revision alone', open, push({ revision: 1 }), ['check.updated']],
    ['a pure close', open, push({ status: 'closed' }), ['check.closed']],
    ['a pure close with a revision', open, push({ status: 'closed', revision: 1 }), ['check.closed']],
    [
      'a change that closes',
      open,
      push({ status: 'closed', items: [burger] }),
      ['check.updated', 'check.closed'],
    ],
    ['a change of a closed check', closed, push({ status: 'closed', items: [burger] }), ['check.updated']],
    ['a reopening by revision', closed, push({ revision: 1 }), ['check.updated']],
    [
      'a total down to what is paid',
      paid(1500),
      push({ totals: cheaper }),
      ['check.updated', 'check.fully_paid'],
    ],
    [
      'a total below what is paid',
      paid(2000),
      push({ totals: cheaper }),
      ['check.updated', 'check.fully_paid'],
    ],
    [
      'all three',
      paid(1500),
      push({ totals: cheaper, status: 'closed' }),
      ['check.updated', 'check.closed', 'check.fully_paid'],
    ],
    ['a total down to 0 with nothing paid', open, push({ totals: total(0) }), ['check.updated']],
    [
      'a change of a check that is paid already',
      paid(3500),
      push({ items: [burger, { ...fries, note: 'hot' }] }),
      ['check.updated'],
    ],
    ['a total above what is paid', paid(3500), push({ totals: total(4000) }), ['check.updated']],
  ])('%s', (_name, check, pushed, expected) => expect(types(decide(check, pushed))).toEqual(expected))

  test('fully_paid is emitted again when the balance rises and falls to 0 again', () => {
    const { check } = decide(paid(3500), push({ totals: total(4000) })).reply
    expect(types(decide(check, push({ totals: total(3500) })))).toContain('check.fully_paid')
  })
})

describe('closed_at', () => {
  test('is the time of closing, and does not change when the check is pushed again', () => {
    const { check } = decide(open, push({ status: 'closed' }), [], afterMs(1000)).reply
    expect(check.closed_at).toBe(afterMs(1000).toISOString())
    const again = decide(check, push({ status: 'closed', items: [burger] }), [], afterMs(5000)).reply.check
    expect(again.closed_at).toBe(check.closed_at)
  })

  test('is null again once a revision has reopened the check', () => {
    expect(decide(closed, push({ revision: 1 })).reply.check).toMatchObject({
      status: 'open',
      closed_at: null,
    })
  })
})

describe('updated_at only increases, by at least a millisecond,', () => {
  test.each([
    ['with the clock', 1000, 1000],
    ['when the clock is frozen', 0, 1],
    ['when the clock moves back', -3_600_000, 1],
  ])('%s', (_name, moved, expected) => {
    const { check } = decide(open, push({ items: [burger] }), [], afterMs(moved)).reply
    expect(check.updated_at).toBe(afterMs(expected).toISOString())
  })
})

function types({ events }: Decision<PushReply>): string[] {
  return events.map(({ type }) => type)
}

function conflictsOf(items: PushedItem[], claims: Claim[], check = open): unknown {
  return refusalOf(() => decide(check, push({ items }), claims))?.details.conflicts ?? []
}

function paid(paid_cents: number): Check {
  return { ...open, paid_cents, balance_cents: open.totals.total_cents - paid_cents }
}

function paidQuantities({ items }: Check): number[] {
  return items.map(({ paid_quantity }) => paid_quantity)
}

function total(cents: number): Push['totals'] {
  return { subtotal_cents: cents, tax_cents: 0, total_cents: cents }
}

function afterMs(milliseconds: number): Date {
  return new Date(noon.getTime() + milliseconds)
}

function reversedKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversedKeys) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, field]) => [key, reversedKeys(field)])) as T
}
