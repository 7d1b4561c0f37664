import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/model/event.ts'
import { put, remove, type Write } from '../../src/model/records.ts'
import { store } from '../../src/operations/outbox.ts'
import { readWrites, writesText } from '../../src/store/write-text.ts'
import { check, delivery, event, idOf } from './records.ts'

/** Text that could be taken for the end of a record, were it not escaped. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('},{"collection":"', '"put":', '"}]', '\\', '\u2028\n\ud800'),
)
const context = {
  now: new Date('2026-01-01T12:00:00.000Z'),
  newSecret: () => '',
  newId: () => idOf('evt', 9),
}

describe('the writes of a transaction', () => {
  it('are read as they were written, whatever is in them', () => {
    fc.assert(
      fc.property(text, text, fc.boolean(), (number, external_id, isFirst) => {
        const pushed = check(1, { table: { number }, external_id })
        const announced = store(
          { type: 'check.created', data: pushed, external_check_id: external_id },
          context,
        )
        const writes: Write[] = [
          ...(isFirst ? [] : [remove('claims', 'clm_1')]),
          put('checks', pushed),
          put('events', announced),
          put('deliveries', delivery(1)),
        ]
        const written = `[${writesText(writes)}]`
        expect(readWrites(written)).toEqual({ writes })
        expect(written.includes('"data_of"')).toBe(isFirst)
        expect(JSON.parse(written)).toHaveLength(writes.length)
      }),
    )
  })

  it('have the body of an event as JSON, and are read with one as text, too', () => {
    const body = '{"id":"evt_1","type":"ping","created_at":"t","data":{"a":[1.5,"\\u2028"]}}'
    const told: StoredEvent = { ...event(1), body: JSON.stringify(JSON.parse(body)) }
    expect(writesText([put('events', told)])).toContain(`"body":${told.body}`)
    const asText = JSON.stringify([put('events', { ...told, body: ` ${body}` })])
    expect(readWrites(asText)).toEqual({ writes: [put('events', told)] })
  })

  it.each([
    ['of a record that is not there', { collection: 'events', put: event(1), data_of: 'chk_1' }],
    ['without a body', { collection: 'events', put: { id: 'evt_1' } }],
    ['with a body that is no JSON', { collection: 'events', put: { id: 'evt_1', body: '{' } }],
    ['of a collection that is not known', { collection: 'tips', put: { id: 'tip_1' } }],
  ])('are none with one %s', (_, stranger) => {
    const writes = [put('checks', check(2)), stranger]
    expect(readWrites(JSON.stringify(writes))).toEqual({ stranger })
  })
})
