import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { StoredEvent } from '../../../src/model/event.ts'
import { put, remove, type Write } from '../../../src/model/records.ts'
import { toStoredEvent } from '../../../src/operations/outbox.ts'
import { readWrites, writesJson } from '../../../src/store/journal/line.ts'
import { check, delivery, event, idOf } from '../records.ts'

/** Text that could be taken for the end of a record, were it not escaped. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('},{"collection":"', '"put":', '"}]', '\\', '\u2028\n\ud800'),
)
const textOf = (writes: readonly Write[]) => writesJson(writes)
const time = '2026-01-02T00:00:00.000Z'
const context = {
  now: new Date('2026-01-01T12:00:00.000Z'),
  newSecret: () => '',
  generation: 0,
  newId: () => idOf('evt', 9),
}

describe('the writes of a transaction', () => {
  it('are read as they were written, for any content', () => {
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (id, number, external_id, isFirst) => {
        const pushed = check(1, { id: `chk_${id}`, table: { number }, external_id })
        const announced = toStoredEvent(
          { type: 'check.created', json: JSON.stringify(pushed), external_check_id: external_id },
          context,
        )
        const writes: Write[] = [
          ...(isFirst ? [] : [remove('claims', 'clm_1')]),
          put('checks', pushed),
          put('events', announced),
          put('deliveries', delivery(1)),
        ]
        const written = `[${textOf(writes)}]`
        expect(readWrites(written)).toEqual({ writes })
        expect(written.includes('"data_of"')).toBe(isFirst)
        expect(JSON.parse(written)).toHaveLength(writes.length)
      }),
    )
  })

  it('writes deliveries that differ in id and endpoint only as one, and reads them back', () => {
    const different: Record<Exclude<keyof Delivery, 'id' | 'endpoint_id'>, Partial<Delivery>> = {
      event_id: { event_id: idOf('evt', 7) },
      event_type: { event_type: 'check.closed' },
      endpoint_url: { endpoint_url: 'https://localhost/' },
      external_check_id: { external_check_id: 'POS-1' },
      status: { status: 'dead' },
      dead_reason: { dead_reason: 'endpoint_disabled' },
      next_attempt_at: { next_attempt_at: null },
      held: { held: { faults: ['delay'], since: time, not_before: time } },
      offer: { offer: { id: 'offer', copy: 1, started_at: time, signed_at: 1 } },
      signed_at: { signed_at: 1 },
      attempts: { attempts: [] },
    }
    const first = delivery(1)
    const second = { ...first, id: idOf('dlv', 2), endpoint_id: 'we_2' }
    const same = put('deliveries', second)
    expect(textOf([put('deliveries', first), same])).toContain('"and"')
    expect(readWrites(`[${textOf([put('deliveries', first), same])}]`)).toEqual({
      writes: [put('deliveries', first), same],
    })
    for (const change of Object.values(different)) {
      const writes = [put('deliveries', first), put('deliveries', { ...second, ...change })]
      expect(textOf(writes)).not.toContain('"and"')
      expect(readWrites(`[${textOf(writes)}]`)).toEqual({ writes })
    }
  })

  it('read the grouped deliveries of a journal of version 1', () => {
    const first = delivery(1)
    const written = [
      put('checks', check(1)),
      { ...put('deliveries', first), and: others([idOf('dlv', 2), idOf('dlv', 3)], ['we_2', 'we_3']) },
    ]
    expect(readWrites(JSON.stringify(written))).toEqual({
      writes: [
        put('checks', check(1)),
        put('deliveries', first),
        put('deliveries', { ...first, id: idOf('dlv', 2), endpoint_id: 'we_2' }),
        put('deliveries', { ...first, id: idOf('dlv', 3), endpoint_id: 'we_3' }),
      ],
    })
  })

  it.each<[where: string, change: (body: string) => string]>([
    ['in its head', (body) => body.replace('"id":"evt_', '"id":"evt-')],
    ['in its data', (body) => body.replace('POS-1', 'POS-7')],
    ['in its end', (body) => `${body.slice(0, -1)} `],
    ['in its length', (body) => `${body}}`],
  ])('keep the whole body when it differs %s from the rebuilt one', (_, change) => {
    const pushed = check(1)
    const made = { type: 'check.created', json: JSON.stringify(pushed), external_check_id: 'POS-1' } as const
    const announced = toStoredEvent(made, context)
    const body = change(announced.body)
    expect(body).not.toBe(announced.body)
    expect(textOf([put('checks', pushed), put('events', announced)])).toContain('"data_of"')
    expect(textOf([put('checks', pushed), put('events', { ...announced, body })])).not.toContain('"data_of"')
  })

  it('have the body of an event as JSON, and are read with one as text, too', () => {
    const body = '{"id":"evt_1","type":"ping","created_at":"t","data":{"a":[1.5,"\\u2028"]}}'
    const told: StoredEvent = { ...event(1), body: JSON.stringify(JSON.parse(body)) }
    expect(textOf([put('events', told)])).toContain(`"body":${told.body}`)
    const asText = JSON.stringify([put('events', { ...told, body: ` ${body}` })])
    expect(readWrites(asText)).toEqual({ writes: [put('events', told)] })
  })

  it.each([
    ['of a record that is not there', { collection: 'events', put: event(1), data_of: 'chk_1' }],
    ['without a body', { collection: 'events', put: { id: 'evt_1' } }],
    ['with a body that is no JSON', { collection: 'events', put: { id: 'evt_1', body: '{' } }],
    ['that puts further checks', { collection: 'checks', put: check(3), and: others(['chk_4'], ['we_1']) }],
    [
      'that removes further ones',
      { collection: 'deliveries', remove: 'dlv_1', and: others(['dlv_2'], ['we_1']) },
    ],
    [
      'with a further one and no endpoint',
      { collection: 'deliveries', put: delivery(2), and: others(['dlv_3'], []) },
    ],
    ['with a further one of numbers', { collection: 'deliveries', put: delivery(2), and: others([3], [4]) }],
    ['with nothing for further ones', { collection: 'deliveries', put: delivery(2), and: null }],
    ['with further ones of one without an id', { collection: 'deliveries', put: {}, and: others([], []) }],
    ['with further ones in a text', { collection: 'deliveries', put: delivery(2), and: 'all' }],
    ['with more to it than is known', { collection: 'deliveries', put: { id: 'dlv_2' }, like: 'dlv_1' }],
    ['of a collection that is not known', { collection: 'tips', put: { id: 'tip_1' } }],
  ])('are refused with one %s', (_, unknownWrite) => {
    const writes = [put('checks', check(2)), put('deliveries', delivery(1)), unknownWrite]
    expect(readWrites(JSON.stringify(writes))).toEqual({ unknownWrite })
  })
})

function others(ids: readonly unknown[], endpoint_ids: readonly unknown[]) {
  return { ids, endpoint_ids }
}
