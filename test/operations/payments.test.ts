import { describe, expect, test } from 'vitest'
import { type PayBody, viewPayment } from '../../src/model/guests/records.ts'
import { bill, tableWith } from './guests-fixtures.ts'
import { noon, refusalOf } from './push-fixtures.ts'

const dinner = bill({ burger: 1000, fries: 500, bread: 0 }, 1650)

describe('a payment', () => {
  test('of claims is the amount that they owe, and pays them', () => {
    const table = tableWith(dinner)
    const { reply: claim } = table.claim({ burger: 1 })
    const { reply, types, events } = table.pay({ claim_ids: [claim.id], tip_cents: 200, guest_name: 'Mia' })
    expect(reply).toEqual({
      id: 'pay_0003',
      check_id: table.check().id,
      external_check_id: 'c-1',
      location_id: 'loc_1',
      guest_name: 'Mia',
      claim_ids: [claim.id],
      amount_cents: 1100,
      tip_cents: 200,
      refunded_cents: 0,
      currency: 'EUR',
      method: 'card',
      status: 'succeeded',
      created_at: noon.toISOString(),
      refunded_at: null,
    })
    expect(types).toEqual(['payment.succeeded'])
    expect(events[0]?.json).toBe(JSON.stringify(viewPayment(reply)))
    expect(table.claims()).toEqual([{ ...claim, status: 'paid', payment_id: reply.id }])
    expect(table.check()).toMatchObject({
      paid_cents: 1100,
      balance_cents: 550,
      items: [{ claimed_quantity: 1, paid_quantity: 1 }, { claimed_quantity: 0 }, {}],
      updated_at: '2026-11-21T12:00:00.002Z',
    })
  })

  test('with a number that the guest has used returns the earlier payment and changes nothing', () => {
    const table = tableWith(dinner)
    const ann = { guest_hash: 'ann', payment_number: 1 }
    const { reply } = table.pay({ ...ann, amount_cents: 500 })
    table.pay({ guest_hash: 'bob', payment_number: 1, amount_cents: 200 })
    const before = table.everything()
    for (const amount_cents of [500, 700, 99_999])
      expect(table.pay({ ...ann, amount_cents })).toMatchObject({ reply, types: [] })
    expect(table.everything()).toBe(before)
    expect(table.pay({ ...ann, payment_number: 2, amount_cents: 500 }).reply.id).not.toBe(reply.id)
    expect(refusalOf(() => table.pay({ ...ann, payment_number: 4 }))).toMatchObject({
      code: 'validation_failed',
      details: { issues: [{ path: 'payment_number', message: 'must be at most 3, got 4' }] },
    })
    table.pay({ ...ann, payment_number: 3 })
    expect(table.pay({ ...ann, payment_number: 3 }).types).toEqual([])
    expect(table.check()).toMatchObject({ paid_cents: 1650, balance_cents: 0 })
  })

  test('of an amount pays no claims, and reduces the youngest active ones', () => {
    const table = tableWith(dinner)
    table.claim({ fries: 1 })
    table.claim({ burger: 1 })
    expect(table.pay({ amount_cents: 1000 }).reply).toMatchObject({ amount_cents: 1000, claim_ids: [] })
    expect([table.amounts(), table.statuses()]).toEqual([
      [550, 100],
      ['active', 'active'],
    ])
  })

  test('without claims or amount pays the whole balance', () => {
    const table = tableWith(dinner)
    table.pay({ amount_cents: 650 })
    expect(table.pay().reply.amount_cents).toBe(1000)
  })

  test.each<[string, Partial<PayBody>]>([
    ['the whole balance', {}],
    ['an amount that comes to the balance', { amount_cents: 1650 }],
  ])('of %s pays all active claims, and emits check.fully_paid after the payment', (_what, body) => {
    const table = tableWith(dinner)
    const ids = [{ fries: 1 }, { bread: 1 }].map((items) => table.claim(items).reply.id)
    const { reply, types, events } = table.pay(body)
    expect(types).toEqual(['payment.succeeded', 'check.fully_paid'])
    expect(events[1]?.json).toBe(JSON.stringify(table.check()))
    expect(reply.claim_ids).toEqual(ids)
    expect(table.statuses()).toEqual(['paid', 'paid'])
    expect(table.check()).toMatchObject({
      balance_cents: 0,
      items: [{ claimed_quantity: 0, paid_quantity: 1 }, { paid_quantity: 1 }, { paid_quantity: 1 }],
    })
  })

  test('of the whole balance protects items claimed at a lower price, and the balance stays 0', () => {
    const table = tableWith(bill({ burger: 1000 }, 1000))
    table.claim({ burger: 1 })
    table.push(bill({ burger: 1500 }, 1500))
    table.pay()
    const refusal = refusalOf(() => table.push(bill({ burger: 1000 }, 1000)))
    expect(refusal).toMatchObject({
      code: 'conflict_with_paid_items',
      details: {
        conflicts: [{ external_id: 'burger', reason: 'price_decreased', claimed_quantity: 1 }],
      },
    })
    expect(table.check()).toMatchObject({ paid_cents: 1500, balance_cents: 0 })
  })

  test('of the last claims pays the rest of the balance, and claims that owe nothing', () => {
    const table = tableWith(dinner)
    const ids = [{ burger: 1 }, { bread: 1 }, { fries: 1 }].map((items) => table.claim(items).reply.id)
    table.pay({ claim_ids: ids.slice(2) })
    expect(table.pay({ claim_ids: ids.slice(0, 1) }).reply.claim_ids).toEqual(ids.slice(0, 2))
    expect(table.check().balance_cents).toBe(0)
  })

  test('of a claim that owes nothing is 0 while the check has a balance', () => {
    const table = tableWith(dinner)
    const { reply: claim } = table.claim({ bread: 1 })
    expect(table.pay({ claim_ids: [claim.id], tip_cents: 100 }).reply.amount_cents).toBe(0)
    expect(table.statuses()).toEqual(['paid'])
  })

  test('can be made when the check is closed', () => {
    const table = tableWith(dinner)
    table.claim({ burger: 1 })
    table.push({ ...dinner, status: 'closed' })
    expect(table.pay().types).toEqual(['payment.succeeded', 'check.fully_paid'])
  })
})

describe('check.fully_paid', () => {
  test('is emitted again when the POS has raised the total and the rest is paid', () => {
    const table = tableWith(dinner)
    table.pay()
    table.push({ ...dinner, totals: bill({}, 2000).totals })
    expect(table.pay({ amount_cents: 349 }).types).toEqual(['payment.succeeded'])
    expect(table.pay().types).toEqual(['payment.succeeded', 'check.fully_paid'])
  })

  test('is emitted for a push that lowers the total to the paid amount; claims that owe nothing stay active', () => {
    const table = tableWith(dinner)
    table.claim({ burger: 1 })
    table.pay({ amount_cents: 700 })
    expect(table.push(bill({ burger: 1000 }, 700)).types).toEqual(['check.updated', 'check.fully_paid'])
    expect([table.amounts(), table.statuses()]).toEqual([[0], ['active']])
  })
})

describe('a refused payment changes nothing', () => {
  const cases: [
    code: string,
    what: string,
    prepare: (table: ReturnType<typeof tableWith>) => Partial<PayBody>,
  ][] = [
    ['exceeds_balance', 'more than the balance', () => ({ amount_cents: 1651 })],
    [
      'exceeds_balance',
      'a balance of 0',
      (table) => {
        table.pay()
        return {}
      },
    ],
    [
      'exceeds_balance',
      'a cent when the POS has gone below what is paid',
      (table) => {
        table.pay()
        table.push({ ...dinner, totals: bill({}, 1000).totals })
        return { amount_cents: 1 }
      },
    ],
    [
      'exceeds_balance',
      'the claims of a check whose total is 0',
      (table) => {
        table.push(bill({ burger: 1000 }, 0))
        return { claim_ids: [table.claim({ burger: 1 }).reply.id] }
      },
    ],
    ['validation_failed', 'a claim that the check does not have', () => ({ claim_ids: ['clm_9'] })],
    [
      'claim_not_active',
      'a claim that is paid',
      (table) => {
        const { id } = table.claim({ fries: 1 }).reply
        table.pay({ claim_ids: [id] })
        return { claim_ids: [id] }
      },
    ],
    [
      'claim_not_active',
      'a claim that is released, beside one that is not',
      (table) => {
        const { reply } = table.claim({ fries: 1 })
        table.release(reply)
        return { claim_ids: [table.claim({ burger: 1 }).reply.id, reply.id] }
      },
    ],
  ]
  test.each(cases)('%s: %s', (code, _what, prepare) => {
    const table = tableWith(dinner)
    const body = prepare(table)
    const before = table.everything()
    expect(refusalOf(() => table.pay(body))?.code).toBe(code)
    expect(table.everything()).toBe(before)
  })

  test('exceeds_balance contains the balance', () => {
    const refusal = refusalOf(() => tableWith(dinner).pay({ amount_cents: 2000 }))
    expect(refusal?.details).toEqual({ balance_cents: 1650 })
    expect(refusal?.message).toContain('€20.00 is more than the €16.50 owed')
  })
})

/** Two guests, of whom the first has paid 1,100 and a tip. */
function halfPaid() {
  const table = tableWith(dinner)
  const { reply: claim } = table.claim({ burger: 1 })
  const { reply: payment } = table.pay({ claim_ids: [claim.id], tip_cents: 150 })
  return { table, payment }
}

describe('a refund', () => {
  test('of a part adds it to the balance and leaves claims paid', () => {
    const { table, payment } = halfPaid()
    const { reply, types, events } = table.refund(payment, { amount_cents: 100 })
    expect(reply).toEqual({
      ...payment,
      refunded_cents: 100,
      status: 'partially_refunded',
      refunded_at: '2026-11-21T12:00:00.001Z',
    })
    expect(types).toEqual(['payment.refunded'])
    expect(events[0]?.json).toBe(JSON.stringify(viewPayment(reply)))
    // Receivers order the states of a payment by this time, also when the clock is frozen.
    expect(events[0]?.created_at).toBe('2026-11-21T12:00:00.001Z')
    expect(table.check()).toMatchObject({
      paid_cents: 1000,
      balance_cents: 650,
      items: [{ paid_quantity: 1 }, {}, {}],
      updated_at: '2026-11-21T12:00:00.003Z',
    })
    expect(table.statuses()).toEqual(['paid'])
  })

  test('without an amount refunds the rest and releases the claims', () => {
    const { table, payment } = halfPaid()
    table.refund(payment, { amount_cents: 100 })
    const { reply } = table.refund(payment)
    expect(reply).toMatchObject({ refunded_cents: 1100, tip_cents: 150, status: 'refunded' })
    expect(table.claims()).toMatchObject([{ status: 'released', payment_id: payment.id, amount_cents: 1100 }])
    expect(table.check()).toMatchObject({
      paid_cents: 0,
      balance_cents: 1650,
      items: [{ claimed_quantity: 0, paid_quantity: 0 }, {}, {}],
    })
  })

  test('that reopens a balance ends the protection of unclaimed items', () => {
    const table = tableWith(dinner)
    const { reply: payment } = table.pay()
    const withoutFries = bill({ burger: 1000, bread: 0 }, 1100)
    expect(refusalOf(() => table.push(withoutFries))?.code).toBe('conflict_with_paid_items')
    table.refund(payment, { amount_cents: 1 })
    expect(table.check().items.map((item) => item.paid_quantity)).toEqual([0, 0, 0])
    expect(table.push(withoutFries).reply.outcome).toBe('updated')
  })

  test('in full allows a push that a fully paid check refused, as the error advises', () => {
    const table = tableWith(dinner)
    const { reply: claim } = table.claim({ burger: 1, fries: 1, bread: 1 })
    const withoutFries = bill({ burger: 1000, bread: 0 }, 1100)
    const advice = () =>
      /Keep these items in the push, or (.+)\.$/.exec(
        refusalOf(() => table.push(withoutFries))?.message ?? '',
      )?.[1]
    expect(advice()).toBe('release or refund their claims first')
    const { reply: payment } = table.pay({ claim_ids: [claim.id] })
    expect(advice()).toBe('refund the payments first, in full where they paid claims of these items')
    table.refund(payment)
    expect(table.push(withoutFries).reply.outcome).toBe('updated')
  })

  test('in parts that add up to the payment also releases the claims', () => {
    const { table, payment } = halfPaid()
    table.refund(payment, { amount_cents: 100 })
    expect(table.refund(payment, { amount_cents: 1000 }).reply.status).toBe('refunded')
    expect(table.statuses()).toEqual(['released'])
  })

  test('releases only the claims of its payment', () => {
    const { table, payment } = halfPaid()
    table.pay({ claim_ids: [table.claim({ fries: 1 }).reply.id] })
    table.claim({ bread: 1 })
    table.refund(payment)
    expect(table.statuses()).toEqual(['released', 'paid', 'active'])
  })

  test('adds the refunded amount to the claim that completes the check', () => {
    const { table, payment } = halfPaid()
    table.claim({ fries: 1 })
    table.refund(payment, { amount_cents: 100 })
    expect(table.amounts()).toEqual([1100, 650])
  })

  test('of a payment of 0 releases its claims, once', () => {
    const table = tableWith(dinner)
    const { reply } = table.pay({ claim_ids: [table.claim({ bread: 1 }).reply.id] })
    expect(table.refund(reply).reply.status).toBe('refunded')
    expect(table.statuses()).toEqual(['released'])
    expect(refusalOf(() => table.refund(reply))?.code).toBe('exceeds_payment')
  })

  test('is possible on a closed check, and a new payment emits check.fully_paid again', () => {
    const { table, payment } = halfPaid()
    table.pay()
    table.push({ ...dinner, status: 'closed' })
    expect(table.refund(payment).types).toEqual(['payment.refunded'])
    expect(table.pay().types).toEqual(['payment.succeeded', 'check.fully_paid'])
  })

  test.each([
    ['more than the payment', [], 1101, 1100],
    ['more than what is left of it', [600], 501, 500],
    ['anything of what is refunded', [1100], 1, 0],
    ['the rest of what is refunded', [1100], undefined, 0],
  ])('of %s is exceeds_payment, and nothing is changed', (_what, earlier, amount_cents, refundable_cents) => {
    const { table, payment } = halfPaid()
    for (const part of earlier) table.refund(payment, { amount_cents: part })
    const before = table.everything()
    const refusal = refusalOf(() => table.refund(payment, { amount_cents }))
    expect(refusal).toMatchObject({ code: 'exceeds_payment', details: { refundable_cents } })
    expect(table.everything()).toBe(before)
  })

  test('of a deleted payment is not_found', () => {
    const { table, payment } = halfPaid()
    expect(refusalOf(() => table.refund({ ...payment, id: 'pay_9' }))?.code).toBe('not_found')
  })
})
