import { describe, expect, test } from 'vitest'
import { bill, tableWith } from './guests-given.ts'
import { refusalOf } from './push-given.ts'

const dinner = bill({ burger: 1000, fries: 1000 }, 2001)

describe('releasing a claim', () => {
  test('releases its items, without an event', () => {
    const table = tableWith(dinner)
    const { reply: claim } = table.claim({ burger: 1 })
    const { reply, types } = table.release(claim)
    expect(reply).toEqual({ ...claim, status: 'released' })
    expect(types).toEqual([])
    expect(table.check()).toMatchObject({
      items: [{ claimed_quantity: 0 }, { claimed_quantity: 0 }],
      updated_at: '2026-11-21T12:00:00.002Z',
    })
  })

  test('again changes nothing', () => {
    const table = tableWith(dinner)
    const { reply: claim } = table.claim({ burger: 1 })
    table.release(claim)
    expect(table.release(claim)).toMatchObject({ reply: { status: 'released' }, writes: [] })
  })

  test('reduces the claim that completed the check to its share', () => {
    const table = tableWith(dinner)
    const { reply: first } = table.claim({ fries: 1 })
    table.claim({ burger: 1 })
    expect(table.amounts()).toEqual([1001, 1000])
    expect(table.release(first).writes).toHaveLength(3)
    expect(table.amounts()).toEqual([1001, 1001])
  })

  test('that is paid is claim_not_active, and nothing is changed', () => {
    const table = tableWith(dinner)
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
    const table = tableWith(dinner)
    const gone = { id: 'clm_9', location_id: 'loc_1', external_check_id: 'c-1' }
    expect(refusalOf(() => table.release(gone as never))?.code).toBe('not_found')
  })
})
