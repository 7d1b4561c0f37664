import { expect, test } from 'vitest'
import { createDeliveryFaults, createHeldDeliveries } from '../../../src/delivery/faults/faults.ts'
import type { Delivery } from '../../../src/model/delivery.ts'
import { put } from '../../../src/model/records.ts'
import { faultSet, noFaults, type ActiveFaults } from '../../../src/model/simulator/fault-rules.ts'
import { holdDelivery, releaseDeliveries } from '../../../src/operations/pending-deliveries.ts'

const delivery: Delivery = {
  id: 'del_1',
  event_id: 'evt_1',
  event_type: 'check.created',
  endpoint_id: 'we_1',
  external_check_id: 'a',
  status: 'pending',
  attempts: [],
  next_attempt_at: '2026-11-21T18:00:00.000Z',
  dead_reason: null,
}
const later = { id: 'del_2', endpoint_id: 'we_1' }
const held = (next_attempt_at: string): Delivery => ({
  ...delivery,
  next_attempt_at,
  held: { faults: ['reorder'], since: '2026-11-21T18:00:00.000Z', not_before: '2026-11-21T18:00:00.000Z' },
})

/** Faults that the test sets, over a service that answers as `answer` does. */
function openFaults(answer: () => Promise<never>) {
  let set = faultSet(noFaults, 1, [{ on: 'deliveries', delay: 1, delay_ms: 60_000 }])
  let replaced = () => {}
  const active: ActiveFaults = {
    now: () => set,
    seed: () => 1,
    update: async (_id, change) => change(set),
    onReplaced: (listener) => (replaced = listener),
  }
  const executed: unknown[] = []
  const service: Parameters<typeof createDeliveryFaults>[0] = {
    execute: (operation, command) => {
      executed.push(operation, command)
      return answer()
    },
    list: async () => ({ data: [], more: false }),
    onCommit: () => () => undefined,
  }
  const faults = createDeliveryFaults(service, active)
  const clear = () => {
    set = faultSet(set, undefined, [])
    replaced()
  }
  return { faults, executed, clear }
}

const plan = { faults: ['delay'] as const, holds: true, delay_ms: 60_000, reorder_ms: 0, injected: [] }

test('a release that could not be stored fails no attempt, and the next delivery repeats it', async () => {
  const { faults, executed } = openFaults(() => Promise.reject(new Error('full')))
  await faults.hold(delivery, { ...plan, reorder_ms: 60_000 }, 0).catch(() => undefined)
  const release = [releaseDeliveries, { delivery_ids: ['del_1'], at_once: false }]
  for (const id of ['del_2', 'del_3']) {
    executed.length = 0
    await faults.releaseOvertaken({ ...delivery, id })
    expect(executed).toEqual(release)
  }
})

test('a hold that begins while another instance clears the faults is released', () => {
  const { faults, executed, clear } = openFaults(() => new Promise(() => undefined))
  void faults.hold(delivery, plan, 0)
  clear()
  expect(executed).toEqual([
    holdDelivery,
    expect.objectContaining({ delivery_id: 'del_1', delay_ms: 60_000 }),
    releaseDeliveries,
    { delivery_ids: ['del_1'], at_once: true },
  ])
})

test('a delivery that another instance holds can be overtaken, once', () => {
  const all = createHeldDeliveries()
  all.note(put('deliveries', held('2026-11-21T18:01:00.000Z')))
  expect(all.takeUnrecorded()).toEqual([])
  expect(all.takeOvertakenBy({ ...later, endpoint_id: 'we_2' })).toEqual([])
  expect(all.takeOvertakenBy(later)).toEqual(['del_1'])
  expect(all.takeOvertakenBy(later)).toEqual([])
  expect(all.takeAll()).toEqual(['del_1'])
})

test.each<[string, Delivery]>([
  ['released', held('2026-11-21T18:00:00.500Z')],
  ['attempted', { ...delivery, status: 'delivered', next_attempt_at: null }],
])('a delivery that another instance has %s is not released again', (_done, write) => {
  const all = createHeldDeliveries()
  all.note(put('deliveries', held('2026-11-21T18:01:00.000Z')))
  all.note(put('deliveries', write))
  expect(all.takeOvertakenBy(later)).toEqual([])
})
