import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../../src/model/guests/records.ts'
import type { Envelope, EventType } from '../../src/model/event.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { EventError, parseEvent, type EventData, type WebhookEvent } from '../../src/signature/node.ts'
import type * as published from '../../src/signature/node.ts'
import { fixtures } from '../support/cli.ts'

const folder = join(fixtures, 'events')

test.each(readdirSync(folder))('fixtures/events/%s is parsed unchanged, from text and from bytes', (file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  expect(parseEvent(text)).toEqual(JSON.parse(text))
  expect(parseEvent(new TextEncoder().encode(text).buffer)).toEqual(JSON.parse(text))
})

test('an unknown type becomes "unknown", and received_type has its name', () => {
  const data = { id: 'tip_1' }
  const event = { id: 'evt_1', created_at: '2026-01-02T03:04:05.000Z', data }
  const unknown = { ...event, type: 'unknown', received_type: 'tip.pooled' }
  expect(parseEvent(JSON.stringify({ ...event, type: 'tip.pooled' }))).toEqual(unknown)
  for (const type of ['toString', '__proto__', 'unknown'])
    expect(parseEvent(JSON.stringify({ ...event, type }))).toEqual({ ...unknown, received_type: type })
})

test.each([
  ['', 'invalid_json'],
  ['{', 'invalid_json'],
  ['\uFEFF{}', 'invalid_json'],
  [Buffer.from('\uFEFF{}'), 'invalid_json'],
  [Uint8Array.of(0x22, 0xff, 0x22), 'invalid_json'],
  ['null', 'invalid_envelope'],
  ['[]', 'invalid_envelope'],
  ['{"id":"evt_1","type":"ping","created_at":"now"}', 'invalid_envelope'],
  ['{"id":"evt_1","type":7,"created_at":"now","data":{}}', 'invalid_envelope'],
  ['{"id":"evt_1","type":"ping","created_at":"now","data":null}', 'invalid_envelope'],
])('%j is refused: %s', (body, code) => {
  expect(() => parseEvent(body)).toThrow(EventError)
  expect(() => parseEvent(body)).toThrow(expect.objectContaining({ code }))
})

test.each([
  ['{"id":"evt_1","type":7,"data":null}', 'type, created_at'],
  ['{"id":"evt_1","type":"ping","created_at":"now","data":null}', 'data'],
])('%s is refused, naming %s', (body, fields) => {
  expect(() => parseEvent(body)).toThrow(
    `The body is not an event: ${fields} is missing or has a wrong type.`,
  )
})

test('a body that is already parsed is refused, with the advice to pass the raw body', () => {
  expect(() => parseEvent({ id: 'evt_1' } as unknown as string)).toThrow(/raw body/)
})

describe('the types, which the compiler checks', () => {
  test('of event data equal those of the model', () => {
    expectTypeOf<EventData['check.created' | 'check.updated']>().toEqualTypeOf<Check>()
    expectTypeOf<EventData['check.closed' | 'check.fully_paid']>().toEqualTypeOf<Check>()
    expectTypeOf<EventData['payment.succeeded' | 'payment.refunded']>().toEqualTypeOf<PaymentView>()
    expectTypeOf<EventData['claim.created']>().toEqualTypeOf<ClaimView>()
    expectTypeOf<EventData['feedback.received']>().toEqualTypeOf<FeedbackView>()
    expectTypeOf<EventData['ping']>().toEqualTypeOf<WebhookEndpointView>()
    expectTypeOf<keyof EventData>().toEqualTypeOf<Envelope['type']>()
    expectTypeOf<published.EventType>().toEqualTypeOf<EventType>()
  })

  test('are told apart by type', () => {
    const shown = (event: WebhookEvent): string | number => {
      switch (event.type) {
        case 'check.created':
        case 'check.updated':
        case 'check.closed':
        case 'check.fully_paid':
          return event.data.balance_cents
        case 'payment.succeeded':
        case 'payment.refunded':
          return event.data.tip_cents
        case 'claim.created':
          return event.data.items.length
        case 'feedback.received':
          return event.data.rating
        case 'ping':
          return event.data.url
        case 'unknown':
          return event.received_type
      }
    }
    expect(shown(parseEvent(readFileSync(join(folder, 'feedback.received.json'))))).toBeTypeOf('number')
  })
})
