import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import { DueIndex } from '../../../src/store/tables/due.ts'
import { delivery } from '../records.ts'

const attempt = { number: 1 } as Delivery['attempts'][number]
const due = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`

/** A change of one of a few deliveries. */
const move = fc.record({
  number: fc.integer({ min: 1, max: 30 }),
  endpoint_id: fc.constantFrom('we_1', 'we_2'),
  second: fc.integer({ min: 0, max: 59 }),
  attempts: fc.constantFrom([], [attempt]),
  status: fc.constantFrom('pending' as const, 'pending' as const, 'delivered' as const),
  gone: fc.boolean(),
})

describe('the due index', () => {
  it('returns pending deliveries in order of their due times after any moves', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 200 }), (moves) => {
        const queue = new DueIndex()
        const model = new Map<string, Delivery>()
        for (const { number, endpoint_id, second, attempts, status, gone } of moves) {
          const changed = delivery(number, { endpoint_id, next_attempt_at: due(second), attempts, status })
          const before = model.get(changed.id)
          const after = gone ? undefined : changed
          queue.move(before, after)
          if (after === undefined) model.delete(changed.id)
          else model.set(after.id, after)
          expectSame(queue, model)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('keeps the order of thousands that are added at the end and removed near the head', () => {
    const queue = new DueIndex()
    const model = new Map<string, Delivery>()
    for (let number = 1; number <= 2000; number++) {
      const fresh = delivery(number)
      queue.move(undefined, fresh)
      model.set(fresh.id, fresh)
      const leaves = number % 3 === 0 ? undefined : [...model.values()][number % 5]
      if (leaves === undefined) continue
      const again =
        number % 7 === 0 ? { ...leaves, attempts: [attempt], next_attempt_at: due(59) } : undefined
      queue.move(leaves, again)
      if (again === undefined) model.delete(leaves.id)
      else model.set(again.id, again)
    }
    expect(model.size).toBeGreaterThan(700)
    expectSame(queue, model)
  })
})

function expectSame(index: DueIndex, model: ReadonlyMap<string, Delivery>) {
  const pending = [...model.values()]
    .filter(({ status }) => status === 'pending')
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const all = { now: new Date('2100-01-01'), perEndpoint: Infinity }
  expect(index.due(all)).toEqual({ deliveries: pending, next_at: null, more: false })
  for (const endpoint of ['we_1', 'we_2', 'we_9'])
    expect([...index.find(endpoint)].map(({ id }) => id)).toEqual(
      pending
        .filter(({ endpoint_id }) => endpoint_id === endpoint)
        .map(({ id }) => id)
        .sort(),
    )
}

function keyOf({ next_attempt_at, id }: Delivery): string {
  return `${next_attempt_at ?? ''} ${id}`
}
