import { describe, expect, test } from 'vitest'
import { viewClaim } from '../../src/model/guests/records.ts'
import { bill, type Quantities, tableWith } from './guests-fixtures.ts'
import { noon, refusalOf } from './push-fixtures.ts'

const two = { burger: [1000, 2], fries: 500 } as const
const dinner = bill(two, 2750)

describe('a claim', () => {
  test('stores the current prices of its items, and owes their share of the total', () => {
    const table = tableWith(dinner)
    const { reply, types, events } = table.claim({ burger: 1 }, { guest_name: 'Mia' })
    expect(reply).toEqual({
      id: 'clm_0002',
      check_id: table.check().id,
      external_check_id: 'c-1',
      location_id: 'loc_1',
      guest_name: 'Mia',
      items: [{ external_id: 'burger', quantity: 1, price_cents: 1000 }],
      amount_cents: 1100,
      status: 'active',
      payment_id: null,
      created_at: noon.toISOString(),
    })
    expect(types).toEqual(['claim.created'])
    expect(events[0]?.json).toBe(JSON.stringify(viewClaim(reply)))
    expect(table.claims()).toEqual([reply])
  })

  test('changes only the quantities and the time of the check', () => {
    const table = tableWith(dinner)
    const before = table.check()
    table.claim({ burger: 1 })
    const [burger, fries] = before.items
    expect(table.check()).toEqual({
      ...before,
      items: [{ ...burger, claimed_quantity: 1 }, fries],
      updated_at: '2026-11-21T12:00:00.001Z',
    })
  })

  test.each([
    [0.33333, 0.333],
    [0.66667, 0.667],
    [0.0004, 0.001],
    [1_000_000, 1_000_000],
  ])('of the whole quantity %d takes %d, and a further claim is refused', (quantity, claimable) => {
    const table = tableWith(bill({ rice: [300, quantity] }, 1000))
    const more = refusalOf(() => table.claim({ rice: claimable + 0.001 }))
    expect(more?.details).toMatchObject({ items: [{ unclaimed_quantity: claimable }] })
    table.claim({ rice: claimable })
    expect(table.check().items[0]).toMatchObject({ quantity, claimed_quantity: claimable })
    expect(table.amounts()).toEqual([1000])
    expect(refusalOf(() => table.claim({ rice: 0.001 }))?.code).toBe('not_claimable')
  })

  test('can take the rest of an item, to the last thousandth', () => {
    const table = tableWith(bill({ pizza: 1000 }, 1000))
    for (const quantity of [0.1, 0.2, 0.7]) table.claim({ pizza: quantity })
    expect(table.check().items).toMatchObject([{ claimed_quantity: 1, paid_quantity: 0 }])
    expect(table.amounts()).toEqual([100, 200, 700])
  })

  test('of a free item is accepted and owes nothing', () => {
    const table = tableWith(bill({ burger: 1000, bread: 0 }, 1000))
    expect(table.claim({ bread: 1 }).reply.amount_cents).toBe(0)
  })

  test('can be repeated for released items', () => {
    const table = tableWith(dinner)
    table.release(table.claim({ fries: 1 }).reply)
    expect(table.claim({ fries: 1 }).reply.status).toBe('active')
  })

  test('of a fully paid check is accepted and owes nothing', () => {
    const table = tableWith(dinner)
    table.pay()
    expect(table.claim({ fries: 1 }).reply.amount_cents).toBe(0)
  })
})

describe('not_claimable', () => {
  const discounted = bill({ ...two, voucher: -300 }, 2450)
  test.each<[what: string, items: Quantities, refused: object[]]>([
    ['an unknown item', { soup: 1 }, [{ reason: 'unknown_item', unclaimed_quantity: null }]],
    ['a discount line', { voucher: 1 }, [{ reason: 'discount_line', unclaimed_quantity: 1 }]],
    ['a quantity of 0', { burger: 0 }, [{ reason: 'quantity_not_positive', unclaimed_quantity: 1 }]],
    ['a negative quantity', { burger: -1 }, [{ reason: 'quantity_not_positive' }]],
    ['more than is left', { burger: 1.001 }, [{ reason: 'exceeds_unclaimed', unclaimed_quantity: 1 }]],
    [
      'what another guest has claimed',
      { fries: 1 },
      [{ reason: 'exceeds_unclaimed', unclaimed_quantity: 0 }],
    ],
    [
      'several, though one could be claimed',
      { burger: 1, fries: 0.5, soup: 1 },
      [
        { external_id: 'fries', reason: 'exceeds_unclaimed' },
        { external_id: 'soup', reason: 'unknown_item' },
      ],
    ],
  ])('refuses %s, and changes nothing', (_what, items, refused) => {
    const table = tableWith(discounted)
    table.claim({ burger: 1, fries: 1 })
    const before = table.everything()
    const refusal = refusalOf(() => table.claim(items))
    expect(refusal).toMatchObject({ code: 'not_claimable', details: { items: refused } })
    const named = ((refusal?.details.items ?? []) as { external_id: string }[]).map(
      ({ external_id }) => external_id,
    )
    for (const external_id of named) expect(refusal?.message).toContain(`${external_id} (`)
    const isUnknown = refused.length === 1 && JSON.stringify(refused).includes('unknown_item')
    expect(refusal?.message).toContain(isUnknown ? 'Give items by the external_id' : 'Claim at most')
    expect(table.everything()).toBe(before)
  })

  test('applies to every item of a closed check', () => {
    const table = tableWith(bill(two, 2750, { status: 'closed' }))
    expect(refusalOf(() => table.claim({ burger: 1, soup: 1 }))?.details.items).toMatchObject([
      { external_id: 'burger', reason: 'check_closed' },
      { external_id: 'soup', reason: 'check_closed' },
    ])
  })
})

describe('a push on a check with claims', () => {
  test('updates the amounts of active claims by its totals, and keeps those of paid ones', () => {
    const table = tableWith(dinner)
    const mine = table.claim({ burger: 1 }).reply
    table.claim({ burger: 1 })
    table.pay({ claim_ids: [mine.id] })
    const { writes } = table.push(bill({ ...two, soup: 1500 }, 4000))
    expect(table.amounts()).toEqual([1100, 1000])
    expect(writes.map(({ collection }) => collection)).toEqual(['checks', 'claims'])
  })

  test('does not write a claim whose amount stays the same', () => {
    const table = tableWith(dinner)
    table.claim({ burger: 1 })
    expect(table.push(bill(two, 2750, { table: { number: '7' } })).writes).toHaveLength(1)
  })

  test('keeps the price at the time of the claim, and charges the current one', () => {
    const table = tableWith(dinner)
    table.claim({ burger: 1 })
    table.push(bill({ burger: [1500, 2], fries: 500 }, 3500))
    expect(table.claims()).toMatchObject([{ items: [{ price_cents: 1000 }], amount_cents: 1500 }])
  })
})

const smallDinner = bill({ burger: 1000, fries: 1000 }, 2001)

describe('releasing a claim', () => {
  test('releases its items, without an event', () => {
    const table = tableWith(smallDinner)
    const { reply: claim } = table.claim({ burger: 1 })
    const { reply, types } = table.release(claim)
    expect(reply).toEqual({ ...claim, status: 'released' })
    expect(types).toEqual([])
    expect(table.check()).toMatchObject({
      items: [{ claimed_quantity: 0 }, { claimed_quantity: 0 }],
      updated_at: '2026-11-21T12:00:00.002Z',
    })
  })

  test('a second time changes nothing', () => {
    const table = tableWith(smallDinner)
    const { reply: claim } = table.claim({ burger: 1 })
    table.release(claim)
    expect(table.release(claim)).toMatchObject({ reply: { status: 'released' }, writes: [] })
  })

  test('reduces the claim that completed the check to its share', () => {
    const table = tableWith(smallDinner)
    const { reply: first } = table.claim({ fries: 1 })
    table.claim({ burger: 1 })
    expect(table.amounts()).toEqual([1001, 1000])
    expect(table.release(first).writes).toHaveLength(3)
    expect(table.amounts()).toEqual([1001, 1001])
  })

  test('that is paid is claim_not_active, and nothing is changed', () => {
    const table = tableWith(smallDinner)
    const { reply: claim } = table.claim({ burger: 1 })
    const { reply: payment } = table.pay({ claim_ids: [claim.id] })
    const before = table.everything()
    expect(refusalOf(() => table.release(claim))).toMatchObject({
      code: 'claim_not_active',
      details: { claims: [{ id: claim.id, status: 'paid', payment_id: payment.id }] },
    })
    expect(table.everything()).toBe(before)
  })

  test('that is deleted is not_found', () => {
    const table = tableWith(smallDinner)
    const gone = { id: 'clm_9', location_id: 'loc_1', external_check_id: 'c-1' }
    expect(refusalOf(() => table.release(gone as never))?.code).toBe('not_found')
  })
})
