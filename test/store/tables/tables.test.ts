import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Attempt, Delivery } from '../../../src/model/delivery.ts'
import { put, remove, type Write } from '../../../src/model/records.ts'
import type { RecordsInOrder } from '../../../src/store/tables/table.ts'
import { createTables, type Tables } from '../../../src/store/tables/tables.ts'
import { delivery, idOf } from '../records.ts'

const attempt = { number: 1 } as Attempt
const endpoints = ['we_1', 'we_2', 'we_3', 'we_4'] as const

/** A step: an event for so many endpoints, or a change of one delivery, found by its place among all that ever existed. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('fan out' as const), size: fc.integer({ min: 1, max: endpoints.length }) }),
  fc.record({
    kind: fc.constantFrom('attempt', 'deliver', 'remove', 'undo', 'put back', 'squeeze in', 'repeat'),
    place: fc.nat(),
  }),
)

describe('the table of deliveries', () => {
  it('equals a plain map after any sequence of writes and undos', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tables = createTables()
        const model = new Map<string, Delivery>()
        const ever: Delivery[] = []
        let undo: { writes: readonly Write[]; model: [string, Delivery][] } = { writes: [], model: [] }
        for (const [number, one] of steps.entries()) {
          const before = [...model]
          const writes = one.kind === 'fan out' ? fanOut(number, one.size) : becoming(one, ever, model)
          if (one.kind === 'undo') {
            tables.apply(undo.writes)
            model.clear()
            for (const [id, record] of undo.model) model.set(id, record)
            undo = { writes: [], model: undo.model }
          } else undo = { writes: tables.apply(writes), model: before }
          for (const write of writes) follow(write, model, ever)
          expectSame(tables, model)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('makes copies that later writes do not change', () => {
    const tables = createTables()
    tables.apply(fanOut(1, 4))
    const copy = tables.copy()
    const all = [...copy.deliveries.values()]
    tables.apply([
      put('deliveries', { ...delivery(102), attempts: [attempt] }),
      remove('deliveries', idOf('dlv', 103)),
    ])
    tables.apply(fanOut(2, 3))
    expect([...copy.deliveries.values()]).toEqual(all)
    expect(backFrom(copy.deliveries.clone())).toEqual([...all].reverse())
  })

  it('reports each put, and whether the record is new', () => {
    const told: unknown[] = []
    const tables = createTables((...what) => void told.push(what))
    tables.apply(fanOut(1, 3))
    tables.apply([put('deliveries', { ...delivery(102), attempts: [attempt] })])
    expect(told).toEqual([
      ['deliveries', idOf('dlv', 101), true],
      ['deliveries', idOf('dlv', 102), true],
      ['deliveries', idOf('dlv', 103), true],
      ['deliveries', idOf('dlv', 102), false],
    ])
  })
})

function fanOut(number: number, size: number): Write[] {
  return endpoints
    .slice(0, size)
    .map((endpoint_id, index) =>
      put('deliveries', delivery(100 * number + index + 1, { event_id: idOf('evt', number), endpoint_id })),
    )
}

function becoming(
  { kind, place }: { kind: string; place: number },
  ever: readonly Delivery[],
  model: ReadonlyMap<string, Delivery>,
): Write[] {
  const found = ever[place % Math.max(ever.length, 1)]
  if (found === undefined || kind === 'undo') return []
  const now = model.get(found.id)
  if (kind === 'put back') return now === undefined ? [put('deliveries', found)] : []
  // Only a clock that was set back makes one that belongs between others.
  if (kind === 'squeeze in')
    return [put('deliveries', { ...found, id: `${found.id.slice(0, -1)}${place % 10}x` })]
  if (kind === 'repeat')
    return ever
      .filter(({ event_id }) => event_id === found.event_id)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .map((one) => put('deliveries', one))
  if (now === undefined) return []
  if (kind === 'remove') return [remove('deliveries', found.id)]
  const attempts = [...now.attempts, attempt]
  return [
    put(
      'deliveries',
      kind === 'attempt'
        ? { ...now, attempts }
        : { ...now, attempts, status: 'delivered', next_attempt_at: null },
    ),
  ]
}

function follow(write: Write, model: Map<string, Delivery>, ever: Delivery[]): void {
  if (!('put' in write)) return void model.delete(write.remove)
  const record = write.put as Delivery
  model.set(record.id, record)
  if (!ever.some(({ id }) => id === record.id)) ever.push(record)
}

function backFrom(records: RecordsInOrder<Delivery>, id?: string): Delivery[] {
  return Array.from(records.entriesReversed(id), ([, record]) => record)
}

function expectSame(tables: Tables, model: ReadonlyMap<string, Delivery>): void {
  const all = [...model.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  const { records, find } = tables.of('deliveries')
  expect(records.size).toBe(all.length)
  expect([...records.values()]).toEqual(all)
  expect(backFrom(records)).toEqual([...all].reverse())
  const [middle] = all.slice(Math.floor(all.length / 2))
  for (const id of [middle?.id ?? 'dlv_', `${middle?.id ?? ''}0`]) {
    expect([...records.values(id)]).toEqual(all.filter((one) => one.id >= id))
    expect(backFrom(records, id)).toEqual(all.filter((one) => one.id <= id).reverse())
    expect(records.get(id)).toEqual(model.get(id))
  }
  for (const { id } of all) expect(records.get(id)).toEqual(model.get(id))
  for (const event of new Set(all.map(({ event_id }) => event_id)))
    expect([...find('event', event)]).toEqual(all.filter(({ event_id }) => event_id === event))
  const pending = all.filter(({ status }) => status === 'pending')
  for (const endpoint of endpoints)
    expect([...find('pending_of', endpoint)]).toEqual(
      pending.filter(({ endpoint_id }) => endpoint_id === endpoint),
    )
  const due = tables.due({ now: new Date('2030-01-01'), perEndpoint: 1000 })
  expect(due.deliveries).toEqual(pending)
}
