import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../../src/model/event.ts'
import type { Write } from '../../src/model/records.ts'
import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'
import { outbox } from '../../src/operations/outbox.ts'
import { webhookEndpoint } from './endpoint-fixtures.ts'
import { noon } from './push-fixtures.ts'

/** Makes identifiers with a number each, in the order in which they are asked for. */
function context() {
  let made = 0
  return { now: noon, newId: (prefix: string) => `${prefix}_${++made}`, newSecret: () => '', generation: 0 }
}

const endpoint = (id: string, event_types: WebhookEndpoint['event_types']) =>
  webhookEndpoint({ id, event_types })

const location_id = 'loc_1'
const updated: DomainEvent = {
  type: 'check.updated',
  location_id,
  json: '{"note":"Crème"}',
  external_check_id: 'dinner',
}
const closed: DomainEvent = {
  type: 'check.closed',
  location_id,
  json: '{"note":"bye"}',
  external_check_id: null,
}

/** Given these endpoints, when this has happened: collection and record of each write. */
function writesOf(events: readonly DomainEvent[], endpoints: readonly WebhookEndpoint[]) {
  return outbox(events, endpoints, context()).map(recordOf)
}

function recordOf(write: Write): [collection: string, record: object] {
  if (!('put' in write)) throw new Error('An outbox removes nothing.')
  return [write.collection, write.put]
}

describe('the outbox', () => {
  test('stores an event with its envelope, serialised once, and one delivery that is due at once', () => {
    const body =
      '{"id":"evt_1","type":"check.updated","created_at":"2026-11-21T12:00:00.000Z","data":{"note":"Crème"}}'
    expect(writesOf([updated], [endpoint('we_1', ['check.updated'])])).toEqual([
      [
        'events',
        {
          id: 'evt_1',
          type: 'check.updated',
          created_at: noon.toISOString(),
          external_check_id: 'dinner',
          body,
        },
      ],
      [
        'deliveries',
        {
          id: 'dlv_2',
          event_id: 'evt_1',
          event_type: 'check.updated',
          endpoint_id: 'we_1',
          external_check_id: 'dinner',
          status: 'pending',
          attempts: [],
          next_attempt_at: noon.toISOString(),
          dead_reason: null,
        },
      ],
    ])
  })

  test('makes a delivery for each endpoint that lists the type, and for no other', () => {
    const endpoints = [
      endpoint('we_1', ['check.closed', 'check.updated']),
      endpoint('we_2', ['check.closed']),
      endpoint('we_3', ['check.updated']),
    ]
    const deliveries = writesOf([updated], endpoints).slice(1)
    expect(deliveries).toMatchObject([
      ['deliveries', { endpoint_id: 'we_1' }],
      ['deliveries', { endpoint_id: 'we_3' }],
    ])
  })

  test('makes no delivery for an endpoint of another location', () => {
    const elsewhere = webhookEndpoint({ id: 'we_9', location_id: 'loc_2', event_types: ['check.updated'] })
    expect(writesOf([updated], [elsewhere]).slice(1)).toEqual([])
  })

  test('keeps the order of events, each before its deliveries, with an identity of its own', () => {
    const endpoints = [endpoint('we_1', ['check.updated', 'check.closed'])]
    expect(writesOf([updated, closed], endpoints)).toMatchObject([
      ['events', { id: 'evt_1', type: 'check.updated' }],
      ['deliveries', { id: 'dlv_2', event_id: 'evt_1', event_type: 'check.updated' }],
      ['events', { id: 'evt_3', type: 'check.closed' }],
      ['deliveries', { id: 'dlv_4', event_id: 'evt_3', event_type: 'check.closed' }],
    ])
  })

  test('dates an event by its own time, when it has one, in the record and in the envelope', () => {
    const created_at = '2026-11-21T12:00:00.001Z'
    const [[, event] = []] = writesOf([{ ...updated, created_at }], [])
    expect(event).toMatchObject({ created_at, body: expect.stringContaining(created_at) as string })
  })

  test('stores events that no endpoint lists, and writes nothing without an event', () => {
    expect(writesOf([updated], [])).toMatchObject([['events', { id: 'evt_1' }]])
    expect(writesOf([], [endpoint('we_1', ['check.updated'])])).toEqual([])
  })
})
