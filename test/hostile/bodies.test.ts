import { describe, expect, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import { sampled } from '../soak/seeded.ts'
import { check, errorOf, item, type Answer } from '../support/simulator.ts'
import { checksOf, openTarget, valid, type Target } from './standing.ts'
import { jsonTests, naughtyStrings } from './test-data.ts'

const route = 'PUT /v1/checks/external/a'
const codeOf = (answer: Answer) => (answer.status < 400 ? null : errorOf(answer).code)

describe('JSONTestSuite', () => {
  const testsOf = (prefix: 'y_' | 'n_' | 'i_') => sampled(jsonTests(prefix), 3)

  test('has the expected number of texts', () => {
    const counts = (['n_', 'y_', 'i_'] as const).map((prefix) => jsonTests(prefix).length)
    expect(counts).toEqual([188, 95, 35])
  })

  async function outcomes(target: Target, prefix: 'y_' | 'n_' | 'i_') {
    const all: [string, number, string | null][] = []
    for (const { name, body } of testsOf(prefix)) {
      const answer = await target.call(route, { body })
      all.push([name, answer.status, codeOf(answer)])
    }
    return all
  }

  test('invalid JSON is refused with 400 invalid_json', async () => {
    const target = await openTarget()
    const all = await outcomes(target, 'n_')
    expect(all).toHaveLength(testsOf('n_').length)
    expect(all.filter(([, status, code]) => status !== 400 || code !== 'invalid_json')).toEqual([])
    expect(await checksOf(target)).toEqual([])
    await target.stands()
  })

  test('valid JSON is parsed, and refused with 422 when it is not a check', async () => {
    const target = await openTarget()
    const all = await outcomes(target, 'y_')
    expect(all).toHaveLength(testsOf('y_').length)
    expect(all.filter(([, status]) => status !== 422)).toEqual([])
    await target.stands()
  })

  test('JSON of undefined meaning is always refused in the same way; invalid UTF-8 is invalid JSON', async () => {
    const target = await openTarget()
    const [first, second] = [await outcomes(target, 'i_'), await outcomes(target, 'i_')]
    expect(first).toHaveLength(testsOf('i_').length)
    expect(second).toEqual(first)
    expect(first.filter(([, status]) => ![400, 422].includes(status))).toEqual([])
    const read = first.filter(([, status]) => status === 422)
    expect(read.filter(([name]) => /invalid.utf-?8|overlong|truncated|BOM|utf16/i.test(name))).toEqual([])
    await target.stands()
  })

  test('every readable string is returned unchanged', async () => {
    const target = await openTarget()
    const strings = jsonTests('y_')
      .filter(({ name }) => name.startsWith('y_string'))
      .map(({ body }) => (JSON.parse(body.toString()) as [string])[0])
      .filter((text) => typeof text === 'string' && text !== '')
    expect(strings.length).toBeGreaterThan(30)
    await comesBack(target, strings)
    await target.stands()
  })
})

async function comesBack(target: Target, strings: readonly string[]): Promise<void> {
  for (const [index, text] of strings.entries()) {
    const number = Array.from(text).slice(0, 64).join('')
    const sent = [item(text, { name: text, note: text })]
    const body = JSON.stringify(check({ table: { number }, items: sent }))
    const answer = await target.call(`PUT /v1/checks/external/s-${index}`, { body })
    if (text === '' || Array.from(text).length > 255) {
      expect([text, answer.status]).toEqual([text, 422])
      continue
    }
    expect([text, answer.status]).toEqual([text, 201])
    const { table, items } = await target.client.checks.get(`s-${index}`)
    expect(table).toEqual({ number })
    expect(items).toMatchObject(sent)
  }
}

describe('the big list of naughty strings', () => {
  const strings = sampled(naughtyStrings(), 8)

  test('is returned unchanged from every text of a check', async () => {
    const target = await openTarget()
    expect(naughtyStrings()).toHaveLength(461)
    await comesBack(target, strings)
    await target.stands()
  })

  test('names a check of its own, or is refused as a name', async () => {
    const target = await openTarget()
    const named = new Set<string>()
    for (const id of strings) {
      const segment = encodeURIComponent(id)
      const answer = await target.call(`PUT /v1/checks/external/${segment}`, { json: check() })
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
      const isName = id !== '' && Array.from(id).length <= 255 && !/\p{Cc}/u.test(id) && !/^\.{1,2}$/.test(id)
      if (!isName) {
        expect([id, [400, 404].includes(answer.status)]).toEqual([id, true])
        continue
      }
      expect([id, answer.status]).toEqual([id, named.has(id) ? 200 : 201])
      expect(answer.json).toMatchObject({ external_id: id })
      named.add(id)
    }
    expect(named.size).toBeGreaterThan(strings.length - 21)
    await target.stands()
  })
})

describe('a number is stored as it is or refused, never rounded', () => {
  test.each<[field: string, written: string, outcome: number | 'refused']>([
    ['price_cents', '12.5', 'refused'],
    ['price_cents', '"1250"', 'refused'],
    ['price_cents', '1e400', 'refused'],
    ['price_cents', '-1e400', 'refused'],
    ['price_cents', '9007199254740993', 'refused'],
    ['price_cents', '9007199254740991', 9007199254740991],
    ['price_cents', '-9007199254740993', 'refused'],
    ['price_cents', '-0', 0],
    ['price_cents', '-1', -1],
    ['price_cents', '1e3', 1000],
    ['price_cents', '1250.0', 1250],
    ['price_cents', 'null', 'refused'],
    ['price_cents', 'true', 'refused'],
    ['price_cents', '[1250]', 'refused'],
    ['quantity', '0', 'refused'],
    ['quantity', '-0', 'refused'],
    ['quantity', '-1', 'refused'],
    ['quantity', '0.5', 0.5],
    ['quantity', '1e-999', 'refused'],
    ['quantity', '1e400', 'refused'],
    ['quantity', '1e-3', 0.001],
    ['quantity', '1e-4', 1e-4],
    ['quantity', '5e-324', 5e-324],
    ['quantity', '1e6', 1e6],
    ['quantity', '1000000.000000001', 'refused'],
    ['quantity', '1e21', 'refused'],
    ['revision', '9007199254740993', 'refused'],
    ['revision', '-0', 0],
    ['revision', '1e3', 1000],
  ])('%s %s', async (field, written, outcome) => {
    const target = await openTarget()
    const body =
      field === 'revision'
        ? valid.replace(/}$/, `,"revision":${written}}`)
        : valid.replace(new RegExp(`"${field}":\\d+`), `"${field}":${written}`)
    for (let time = 0; time < 2; time++) {
      const answer = await target.call(route, { body })
      if (outcome === 'refused') {
        expect(answer.status).toBe(422)
        expect(await checksOf(target)).toEqual([])
        continue
      }
      expect(answer.status).toBe(time === 0 ? 201 : 200)
      const { items, revision } = answer.json as Check
      const shown = field === 'revision' ? revision : items[0]?.[field as 'quantity']
      expect(Object.is(shown, outcome)).toBe(true)
    }
    await target.stands()
    expect(await target.call('GET /_sim/requests')).toMatchObject({ status: 200 })
  })
})

test.each<[what: string, body: string, shown: object]>([
  ['in the body', valid.replace('"status"', '"st\\u0061tus":"closed","status"'), { status: 'open' }],
  ['in an object within', valid.replace('"number":', '"number":"1","number":'), { table: { number: '12' } }],
  ['in an item', valid.replace('"quantity":', '"quantity":-5,"quantity":'), { items: [{ quantity: 1 }] }],
])('of a duplicate key %s the last value counts', async (_what, body, shown) => {
  const target = await openTarget()
  const answer = await target.call(route, { body })
  expect(answer).toMatchObject({ status: 201, json: shown })
  expect((await target.call('GET /v1/checks/external/a')).text).toBe(answer.text)
  await target.stands(answer)
})

describe('no key reaches a prototype', () => {
  const inside = (text: string, where: string) => valid.replace(where, `${text},${where}`)
  test.each([
    ['"__proto__":{"isAdmin":true}', '"status"'],
    ['"\\u005f_proto__":{"isAdmin":true}', '"status"'],
    ['"__pr\\u006fto__":{"isAdmin":true}', '"status"'],
    ['"__proto__":null', '"status"'],
    ['"__proto__":"x"', '"status"'],
    ['"__proto__":[]', '"status"'],
    ['"constructor":{"prototype":{"isAdmin":true}}', '"status"'],
    ['"\\u0063onstructor":{"prototype":{"isAdmin":true}}', '"status"'],
    ['"constructor":{"prototype":null}', '"status"'],
    ['"__proto__":{"isAdmin":true}', '"number"'],
    ['"__proto__":{"isAdmin":true}', '"quantity"'],
    ['"constructor":{"prototype":{"isAdmin":true}}', '"quantity"'],
    ['"__proto__":{"isAdmin":true}', '"tax_cents"'],
    ['"prototype":{"isAdmin":true},"toString":1,"hasOwnProperty":1', '"status"'],
  ])('%s before %s', async (text, where) => {
    const target = await openTarget()
    const answer = await target.call(route, { body: inside(text, where) })
    expect(answer.status).toBe(201)
    expect(answer.text).not.toMatch(/isAdmin|proto|constructor|toString|hasOwn/)
    expect((await target.call('GET /v1/checks/external/a')).text).toBe(answer.text)
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    await target.stands(answer)
  })

  test('required fields in __proto__ are not accepted', async () => {
    const target = await openTarget()
    expect(await target.call(route, { body: `{"__proto__":${valid}}` })).toMatchObject({ status: 422 })
    await target.stands()
  })
})

test('a push cannot set fields that the service owns', async () => {
  const target = await openTarget()
  const ours = {
    id: 'chk_00000000000000000000000000',
    external_id: 'b',
    location_id: 'loc_other',
    paid_cents: 1850,
    balance_cents: 0,
    created_at: '2000-01-01T00:00:00.000Z',
    updated_at: '2000-01-01T00:00:00.000Z',
    closed_at: '2000-01-01T00:00:00.000Z',
    claims: [{ guest_name: 'Ada' }],
  }
  const items = [{ ...item('burger'), claimed_quantity: 1, paid_quantity: 1 }]
  const plain = (await target.push('b')).json as Check
  const answer = await target.call(route, { json: { ...check(), ...ours, items } })
  expect(answer.status).toBe(201)
  const { id, external_id, created_at, updated_at, ...rest } = answer.json as Check
  expect({ ...plain, ...rest }).toEqual(plain)
  expect(external_id).toBe('a')
  for (const value of Object.values({ id, created_at, updated_at }))
    expect(Object.values(ours)).not.toContain(value)
  await target.stands(answer)
})

describe('the refusal of a body full of mistakes is bounded', () => {
  test.each<[what: string, body: string]>([
    ['ten thousand items', JSON.stringify({ ...check(), items: Array(10_000).fill({ external_id: 'x' }) })],
    [
      'half a million numbers as items',
      valid.replace(/"items":\[.*?\]/, `"items":[${'0,'.repeat(500_000)}0]`),
    ],
    ['a hundred thousand fields', `{${Array.from({ length: 100_000 }, (_, n) => `"${n}":0`).join()}}`],
  ])('%s', async (_what, body) => {
    const target = await openTarget({ strict: true })
    const [answer] = await Promise.all([target.call(route, { body }), target.stands()])
    expect(answer.status).toBe(422)
    expect(answer.text.length).toBeLessThan(16 * body.length)
    await target.stands(answer)
  })
})
