import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parsePush, type OrderedPush } from '../src/model/check.ts'
import { eventTypes, type Envelope } from '../src/model/event.ts'
import { fixtures, readJson, situations } from './findings/situations.ts'

describe('fixtures/locations.json', () => {
  const locations = readJson(join(fixtures, 'locations.json')) as Record<string, string>[]

  test('names two locations of The Copper Pan, with an existing time zone and currency', () => {
    expect(locations).toHaveLength(2)
    for (const { name, timezone, currency, ...rest } of locations) {
      expect(name).toMatch(/^The Copper Pan, /)
      expect(() => new Intl.DateTimeFormat('en', { timeZone: timezone })).not.toThrow()
      expect(Intl.supportedValuesOf('currency')).toContain(currency)
      expect(rest).toEqual({})
    }
  })
})

/** How the totals of a check follow from its lines: all but these have tax on top. */
const pricing: Record<string, (sum: number, totals: OrderedPush['totals']) => boolean> = {
  'tax-inclusive': (sum, { subtotal_cents, tax_cents, total_cents }) =>
    sum === subtotal_cents && sum === total_cents && tax_cents > 0,
  'tax-inclusive-net-subtotal': (sum, { subtotal_cents, tax_cents, total_cents }) =>
    sum === total_cents && subtotal_cents + tax_cents === total_cents && tax_cents > 0,
  'service-charge-outside-lines': (sum, { subtotal_cents, tax_cents, total_cents }) =>
    sum === subtotal_cents && subtotal_cents + tax_cents < total_cents,
}

const taxOnTop = (sum: number, { subtotal_cents, tax_cents, total_cents }: OrderedPush['totals']) =>
  sum === subtotal_cents && subtotal_cents + tax_cents === total_cents

describe.each(situations)('fixtures/checks/$name', ({ name, bodies }) => {
  const pushes = bodies.map((body) => parsePush(body))

  test('contains pushes whose fields strict mode accepts', () => {
    for (const body of bodies) expect(() => parsePush(body, { strict: true })).not.toThrow()
  })

  test('has totals that add up as its name says', () => {
    const addsUp = pricing[name] ?? taxOnTop
    for (const { items, totals } of pushes) expect(addsUp(sumOf(items), totals)).toBe(true)
  })
})

test('the situations with special pricing exist', () => {
  expect(situations.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(pricing)))
})

describe('each situation has what its name says', () => {
  test.each<[string, (...pushes: OrderedPush[]) => boolean]>([
    ['banquet-of-120-lines', ({ items }) => items.length === 120],
    [
      'bar-tab',
      (...pushes) => pushes.length === 6 && pushes.every(({ revision }, at) => revision === at + 1),
    ],
    ['bar-tab', (...pushes) => isRising(pushes.map(({ totals }) => totals.total_cents))],
    ['weighed-goods', ({ items }) => items.some(({ quantity }) => !Number.isInteger(quantity))],
    ['discount-line', ({ items }) => items.some(({ price_cents }) => price_cents < 0)],
    ['two-top', ({ items }) => items.some(({ note }) => note?.includes(';') ?? false)],
    [
      'names-in-japanese',
      ({ items }) => items.every(({ name }) => /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u.test(name)),
    ],
    ['names-in-arabic', ({ items }) => items.every(({ name }) => /\p{sc=Arab}/u.test(name))],
    [
      'names-with-emoji',
      ({ items }) => items.every(({ name }) => /\p{Emoji_Presentation}|\p{RI}|🌶|🏳/u.test(name)),
    ],
    ['void', (before, after) => countOf(after) < countOf(before)],
    ['move-to-another-table', (before, after) => before?.table.number !== after?.table.number],
    ['close', (before, after) => before?.status === 'open' && after?.status === 'closed'],
  ])('%s', (name, holds) => {
    const bodies = situations.find((situation) => situation.name === name)?.bodies ?? []
    expect(holds(...bodies.map((body) => parsePush(body)))).toBe(true)
  })
})

/** The fields of each resource, of contract section 3 and in its order. */
const check =
  'id external_id location_id table status items totals revision paid_cents balance_cents created_at updated_at closed_at'
const payment =
  'id check_id external_check_id guest_name claim_ids amount_cents tip_cents refunded_cents currency method status created_at refunded_at'
const resources: Record<Envelope['type'], { prefix: string; fields: string }> = {
  'check.created': { prefix: 'chk', fields: check },
  'check.updated': { prefix: 'chk', fields: check },
  'check.closed': { prefix: 'chk', fields: check },
  'check.fully_paid': { prefix: 'chk', fields: check },
  'payment.succeeded': { prefix: 'pay', fields: payment },
  'payment.refunded': { prefix: 'pay', fields: payment },
  'claim.created': {
    prefix: 'clm',
    fields: 'id check_id external_check_id guest_name items amount_cents status payment_id created_at',
  },
  'feedback.received': {
    prefix: 'fbk',
    fields: 'id check_id external_check_id guest_name rating comment created_at',
  },
  ping: { prefix: 'we', fields: 'id url event_types status disabled_at disabled_reason created_at' },
}

const events = readdirSync(join(fixtures, 'events')).map((file) => ({
  type: basename(file, '.json'),
  envelope: readJson(join(fixtures, 'events', file)) as Envelope & { data: Record<string, unknown> },
}))

test('fixtures/events has one file for each event type and for the ping, and no other', () => {
  expect(events.map(({ type }) => type).toSorted()).toEqual([...eventTypes, 'ping'].toSorted())
})

describe.each(events)('fixtures/events/$type.json', ({ type, envelope }) => {
  const { prefix, fields } = resources[type as Envelope['type']]

  test('is an envelope of its type', () => {
    expect(Object.keys(envelope)).toEqual(['id', 'type', 'created_at', 'data'])
    expect(envelope).toMatchObject({ id: identifier('evt'), type, created_at: time })
  })

  test('contains its resource with all fields', () => {
    expect(Object.keys(envelope.data)).toEqual(fields.split(' '))
    expect(envelope.data).toMatchObject({ id: identifier(prefix), created_at: time })
  })

  test('holds no secret', () => expect(JSON.stringify(envelope)).not.toMatch(/whsec_|twk_|secret/))
})

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string

function identifier(prefix: string): string {
  return expect.stringMatching(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)) as string
}

/** A POS rounds each line to a cent, half up. */
function sumOf(items: OrderedPush['items']): number {
  return items.reduce((sum, { quantity, price_cents }) => sum + Math.round(quantity * price_cents), 0)
}

function countOf(push: OrderedPush | undefined): number {
  return push?.items.reduce((sum, { quantity }) => sum + quantity, 0) ?? 0
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? number))
}
