import { beforeEach, describe, expect, it } from 'vitest'
import { createNewId, newSecret } from '../src/ids.ts'
import type { EventType, Envelope } from '../src/model/event.ts'
import { put, type Write } from '../src/model/records.ts'
import { Refusal } from '../src/model/refusal.ts'
import type { Decision, NoReads, Operation } from '../src/operations/operation.ts'
import { recordAttempt } from '../src/operations/record-attempt.ts'
import { registerEndpoint } from '../src/operations/endpoints.ts'
import { createService, type Service } from '../src/service.ts'
import { createMemoryStore } from '../src/store/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { createManualClock } from './support/manual-clock.ts'

/** An operation with a scripted decision. */
const decide = {
  reads: (): NoReads => ({}),
  decide: (_records, decision) => (typeof decision === 'function' ? decision() : decision),
} satisfies Operation<Decision<string> | (() => Decision<string>), NoReads, string>

const location = (id: string) =>
  put('locations', { id, name: id, timezone: 'Europe/London', currency: 'GBP', created_at: '' })
const event = (type: EventType, data: object = {}) => ({
  type,
  location_id: 'loc_1',
  json: JSON.stringify(data),
  external_check_id: 'a',
})

describe('execute', () => {
  let store: Store
  let service: Service
  let commits: (readonly Write[])[]
  const clock = createManualClock()
  const countOf = async (collection: 'events' | 'deliveries') =>
    (await service.list(collection, { limit: 100 })).data.length

  beforeEach(() => {
    store = createMemoryStore()
    service = createService({ store, clock, newId: createNewId(() => clock.now()), newSecret })
    commits = []
    service.onCommit((writes) => commits.push(writes))
  })

  it('commits writes, events and deliveries of an operation as one transaction, and returns its reply', async () => {
    const { id } = await service.execute(registerEndpoint, {
      location_id: 'loc_1',
      url: 'https://a/',
      event_types: ['check.created'],
    })
    const decision = { reply: 'done', writes: [location('loc_1')], events: [event('check.created')] }
    expect(await service.execute(decide, decision)).toBe('done')
    expect(commits).toHaveLength(2)
    expect(commits[1]?.map(({ collection }) => collection)).toEqual(['locations', 'events', 'deliveries'])
    const [delivery] = (await service.list('deliveries', { limit: 1 })).data
    expect(delivery).toMatchObject({
      endpoint_id: id,
      event_type: 'check.created',
      external_check_id: 'a',
      status: 'pending',
      attempts: [],
      next_attempt_at: '2026-11-21T18:00:00.000Z',
    })
  })

  it('stores an envelope in the field order of the specification', async () => {
    const data = { b: 1, a: 'é' }
    await service.execute(decide, { reply: '', writes: [], events: [event('check.updated', data)] })
    const [stored] = (await service.list('events', { limit: 1 })).data
    const { id, type, created_at } = JSON.parse(stored?.body ?? '') as Envelope
    expect(stored).toEqual({ id, type, created_at, external_check_id: 'a', body: stored?.body })
    expect(stored?.body).toBe(JSON.stringify({ id, type, created_at, data }))
    expect(created_at).toBe('2026-11-21T18:00:00.000Z')
  })

  it('makes one delivery for each enabled endpoint that lists the type, in the order of the events', async () => {
    const register = (...event_types: EventType[]) =>
      service.execute(registerEndpoint, { location_id: 'loc_1', url: 'https://a/', event_types })
    const [both, one, , disabled] = [
      await register('check.updated', 'check.closed'),
      await register('check.closed'),
      await register('claim.created'),
      await register('check.closed'),
    ]
    await service.execute(decide, {
      reply: '',
      writes: [put('endpoints', { ...disabled, status: 'disabled' })],
      events: [],
    })
    const events = [event('check.updated'), event('check.closed')]
    await service.execute(decide, { reply: '', writes: [], events })
    const deliveries = (await service.list('deliveries', { limit: 10 })).data.toReversed()
    expect(deliveries.map(({ event_type, endpoint_id }) => [event_type, endpoint_id])).toEqual([
      ['check.updated', both.id],
      ['check.closed', both.id],
      ['check.closed', one.id],
    ])
  })

  it('makes no delivery for the endpoints of another location', async () => {
    const register = (location_id: string) =>
      service.execute(registerEndpoint, { location_id, url: 'https://a/', event_types: ['check.closed'] })
    const [here] = [await register('loc_1'), await register('loc_2')]
    await service.execute(decide, { reply: '', writes: [], events: [event('check.closed')] })
    const { data } = await service.list('deliveries', { limit: 10 })
    expect(data.map(({ endpoint_id }) => endpoint_id)).toEqual([here.id])
  })

  it('writes nothing and calls no listener when the operation refuses', async () => {
    const refusal = new Refusal('not_found', 'There is none.')
    const refuse = () => {
      throw refusal
    }
    await expect(service.execute(decide, refuse)).rejects.toBe(refusal)
    expect(commits).toEqual([])
    expect(await countOf('events')).toBe(0)
  })

  it('calls no listener for a decision that changes nothing', async () => {
    await service.execute(decide, { reply: '', writes: [], events: [] })
    expect(commits).toEqual([])
  })

  it('calls no listener for writes that could not be made durable, and rejects', async () => {
    const refusal = new Refusal('storage_unavailable', 'The disk is full.')
    const full: Store = { ...store, transact: () => Promise.reject(refusal) }
    const failing = createService({ store: full, clock, newId: createNewId(() => clock.now()), newSecret })
    failing.onCommit((writes) => commits.push(writes))
    await expect(
      failing.execute(decide, { reply: '', writes: [location('loc_1')], events: [] }),
    ).rejects.toBe(refusal)
    expect(commits).toEqual([])
  })

  it('calls all listeners with the commits in order, until they are removed', async () => {
    const heard: string[] = []
    const stop = service.onCommit(([write]) =>
      heard.push(write !== undefined && 'put' in write ? write.put.id : ''),
    )
    const ids = Array.from({ length: 20 }, (_, index) => `loc_${index}`)
    await Promise.all(
      ids.map((id) => service.execute(decide, { reply: '', writes: [location(id)], events: [] })),
    )
    expect(heard).toEqual(ids)
    stop()
    await service.execute(decide, { reply: '', writes: [location('loc_x')], events: [] })
    expect(heard).toHaveLength(20)
    expect(commits).toHaveLength(21)
  })

  it('runs no other transaction between reading and writing', async () => {
    const { id } = await service.execute(registerEndpoint, {
      location_id: 'loc_1',
      url: 'https://a/',
      event_types: ['check.created'],
    })
    const names = Array.from({ length: 10 }, (_, index) => event('check.created', { index }))
    for (const one of names) await service.execute(decide, { reply: '', writes: [], events: [one] })
    const deliveries = (await service.list('deliveries', { limit: 10 })).data
    const result = {
      started_at: clock.now().toISOString(),
      duration_ms: 1,
      outcome: 'bad_status' as const,
      response_status: 500,
      response_body: null,
      error: 'It answered 500.',
    }
    const record = (delivery_id: string) =>
      service.execute(recordAttempt, {
        delivery_id,
        endpoint_id: id,
        attempt: 1,
        generation: 0,
        result,
        retry_in_ms: 60_000,
        disable_after: 0,
      })
    await Promise.all(deliveries.map((delivery) => record(delivery.id)))
    expect(await service.get('endpoints', id)).toMatchObject({ consecutive_failures: 10 })
  })
})
