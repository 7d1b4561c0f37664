import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import { holdDelivery, type HoldDelivery } from '../../src/operations/pending-deliveries.ts'

const delivery: Delivery = {
  id: 'dlv_1',
  event_id: 'evt_1',
  event_type: 'check.updated',
  endpoint_id: 'we_1',
  external_check_id: 'check-1',
  status: 'pending',
  attempts: [],
  next_attempt_at: '2026-11-21T18:00:00.000Z',
  dead_reason: null,
}
const command: HoldDelivery = {
  delivery_id: 'dlv_1',
  attempt: 1,
  generation: 0,
  faults: ['delay'],
  delay_ms: 500,
  reorder_ms: 0,
}
const context = { now: new Date('2026-11-21T18:00:00.000Z'), newId: String, newSecret: String, generation: 0 }
const decide = (stored: Delivery | undefined, changes: Partial<HoldDelivery> = {}) =>
  holdDelivery.decide({ delivery: stored }, { ...command, ...changes }, context)

describe('holding a delivery', () => {
  const held = {
    faults: ['delay'],
    since: '2026-11-21T18:00:00.000Z',
    not_before: '2026-11-21T18:00:00.500Z',
  } as const

  it('delays its next attempt', () => {
    const { reply, writes } = decide(delivery)
    expect(reply).toEqual({ ...delivery, next_attempt_at: held.not_before, held })
    expect(writes).toEqual([{ collection: 'deliveries', put: reply }])
  })

  it.each([
    ['another instance holds', { ...delivery, held }, {}],
    ['another instance has attempted', delivery, { attempt: 2 }],
    ['belonged to replaced records', delivery, { generation: 1 }],
    ['is no longer pending', { ...delivery, status: 'delivered' as const, next_attempt_at: null }, {}],
  ])('changes nothing of a delivery that %s', (_which, stored, changes) => {
    expect(decide(stored, changes)).toMatchObject({ reply: stored, writes: [] })
  })
})
