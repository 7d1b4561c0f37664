import { describe, expect, test } from 'vitest'
import { viewPayment } from '../../src/model/guests/payment.ts'
import { bill, tableWith } from './guests-given.ts'
import { noon, refusalOf } from './push-given.ts'

const dinner = bill({ burger: 1000, fries: 500, bread: 0 }, 1650)

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
      refunded_at: noon.toISOString(),
    })
    expect(types).toEqual(['payment.refunded'])
    expect(events[0]?.data).toEqual(viewPayment(reply))
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
