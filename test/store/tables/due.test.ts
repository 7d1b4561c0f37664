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

describe('the deliveries that are due', () => {
  const index = new DueIndex()
  const times = { we_1: [1, 2, 3], we_2: [2], we_3: [5] }
  const idOf = (number: number) => delivery(number).id
  let number = 0
  for (const [endpoint_id, seconds] of Object.entries(times))
    for (const second of seconds)
      index.move(undefined, delivery(++number, { endpoint_id, next_attempt_at: due(second) }))
  const now = new Date(due(2))
  const found = (query: Partial<Parameters<typeof index.due>[0]> = {}) => {
    const { deliveries, ...rest } = index.due({ now, perEndpoint: 9, ...query })
    return { ids: deliveries.map(({ id }) => id), ...rest }
  }
  const ids = (...numbers: readonly number[]) => numbers.map(idOf)

  it('are those up to now, and the next time is the earliest after it', () => {
    expect(found()).toEqual({ ids: ids(1, 2, 4), next_at: due(3), more: false })
    expect(found({ now: new Date(due(5)) })).toEqual({ ids: ids(1, 2, 4, 3, 5), next_at: null, more: false })
  })

  it('are looked for at the head of each queue, without busy ones and full endpoints', () => {
    expect(found({ perEndpoint: 1 })).toEqual({ ids: ids(1, 4), next_at: due(5), more: false })
    expect(found({ isBusy: (id) => id === idOf(1) })).toMatchObject({ ids: ids(2, 4) })
    expect(found({ isFull: (endpoint) => endpoint === 'we_1' })).toEqual({
      ids: ids(4),
      next_at: due(5),
      more: false,
    })
  })

  it('are shared among the endpoints, and there are more', () => {
    expect(found({ wanted: 3 })).toEqual({ ids: ids(1, 4), next_at: due(5), more: true })
  })

  it('are not shared with an endpoint whose deliveries have ended', () => {
    const shared = new DueIndex()
    const [one, other, ended] = [delivery(1), delivery(2), delivery(3, { endpoint_id: 'we_2' })]
    for (const added of [one, other, ended]) shared.move(undefined, added)
    shared.move(ended, { ...ended, status: 'delivered', next_attempt_at: null })
    expect(shared.due({ now: new Date('2100-01-01'), perEndpoint: 9, wanted: 2 })).toMatchObject({
      deliveries: [one, other],
      more: false,
    })
  })

  it('make an endpoint unfinished, up to an id', () => {
    const unfinished = (
      upTo: number,
      except: readonly string[] = [],
      isBusy: (id: string) => boolean = () => false,
    ) => index.unfinished({ now, upTo: idOf(upTo), except: new Set(except), isBusy })
    expect(unfinished(5)).toEqual({ due: ['we_1', 'we_2'], next_at: due(5) })
    expect(unfinished(3)).toEqual({ due: ['we_1'], next_at: null })
    expect(unfinished(5, ['we_1'])).toEqual({ due: ['we_2'], next_at: due(5) })
    expect(unfinished(5, [], (id) => [idOf(1), idOf(2)].includes(id))).toEqual({
      due: ['we_2'],
      next_at: due(3),
    })
    const nextBefore = (isBusy: (id: string) => boolean = () => false) =>
      index.unfinished({ now: new Date(0), upTo: idOf(5), except: new Set(), isBusy }).next_at
    expect(nextBefore()).toBe(due(1))
    expect(nextBefore((id) => [idOf(1), idOf(2)].includes(id))).toBe(due(2))
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
