import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Push } from '../../src/model/check.ts'
import { check, errorOf, item, totals } from '../support/simulator.ts'
import { openTarget } from './standing.ts'

type Path = readonly (string | number)[]

const whole = check({
  items: [item('burger', { note: 'rare' })],
  totals: { subtotal_cents: 1250, tax_cents: 100, total_cents: 1350 },
})

/** Every node of a JSON value below its root. */
function nodesOf(value: unknown, path: Path = []): Path[] {
  const isLeaf = typeof value !== 'object' || value === null
  const below = isLeaf ? [] : Object.entries(value).flatMap(([key, part]) => nodesOf(part, [...path, key]))
  return path.length === 0 ? below : [path, ...below]
}

type Edit = (holder: Record<string, unknown>, key: string) => void

/** A copy of the push in which one node is edited. */
function mutant(path: Path, edit: Edit): string {
  const copy = structuredClone(whole) as unknown as Record<string, unknown>
  const holder = path.slice(0, -1).reduce((part, key) => part[key] as typeof copy, copy)
  edit(holder, String(path.at(-1)))
  return JSON.stringify(copy)
}

/** Replaces a value by one of another type. */
const retyped = (value: unknown) => (typeof value === 'number' ? [value] : 7)

const edits: readonly [what: string, edit: Edit][] = [
  [
    'left out',
    (holder, key) => {
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else Reflect.deleteProperty(holder, key)
    },
  ],
  ['null', (holder, key) => void (holder[key] = null)],
  ['of another type', (holder, key) => void (holder[key] = retyped(holder[key]))],
  ['a text', (holder, key) => void (holder[key] = typeof holder[key] === 'string' ? '' : 'text')],
  ['said twice, in a list', (holder, key) => void (holder[key] = [holder[key], holder[key]])],
]

/** Valid mutations: a missing item, and a missing, null or changed note. */
const isFine = (path: Path, what: string) =>
  (what === 'left out' && path.join('.') === 'items.0') ||
  (path.at(-1) === 'note' && ['left out', 'null', 'a text'].includes(what))

describe.each(edits)('a push in which one value is %s', (what, edit) => {
  test('is refused with its path, or accepted where the contract allows it, in the same way both times', async () => {
    const target = await openTarget()
    for (const [index, path] of nodesOf(whole).entries()) {
      const body = mutant(path, edit)
      const send = () => target.call(`PUT /v1/checks/external/m-${index}`, { body })
      const [first, second] = [await send(), await send()]
      if (isFine(path, what)) {
        expect([path, first.status, second.status]).toEqual([path, 201, 200])
        continue
      }
      expect([path, first.status, second.status]).toEqual([path, 422, 422])
      const { issues } = errorOf(first) as unknown as { issues: { path: string }[] }
      const name = path
        .map((part) => (/^\d+$/.test(String(part)) ? `[${part}]` : `.${part}`))
        .join('')
        .slice(1)
      expect([name, issues.some((issue) => issue.path.startsWith(name))]).toEqual([name, true])
      expect(errorOf(second).issues).toEqual(issues)
    }
    await target.stands()
  })
})

const cents = fc.integer({ min: -100_000, max: 100_000 })
const text = (maxLength: number) => fc.string({ unit: 'grapheme', minLength: 1, maxLength })
const validPush: fc.Arbitrary<Push> = fc.record({
  table: fc.record({ number: text(20) }),
  status: fc.constantFrom('open', 'closed'),
  items: fc.uniqueArray(
    fc.record({
      external_id: text(40),
      name: text(40),
      quantity: fc.integer({ min: 1, max: 9_999 }).map((thousandths) => thousandths / 1_000),
      price_cents: cents,
      note: fc.option(text(100)),
    }),
    { selector: ({ external_id }) => external_id, maxLength: 6 },
  ),
  totals: fc.nat(1_000_000).map(totals),
})

test('every valid push is accepted, and returned as sent', async () => {
  const target = await openTarget()
  let pushes = 0
  const isTaken = fc.asyncProperty(validPush, async (push) => {
    const id = `valid-${pushes++}`
    const answer = await target.push(id, push)
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject(push)
    expect((await target.call(`GET /v1/checks/external/${id}`)).text).toBe(answer.text)
  })
  await fc.assert(isTaken, { numRuns: 50 })
  await target.stands()
})

test('deleted and unknown records are 404', async () => {
  const target = await openTarget()
  const { id } = await target.client.endpoints.create({
    url: 'https://127.0.0.1:1/',
    event_types: ['check.closed'],
  })
  await target.call(`DELETE /_sim/webhook-endpoints/${id}`)
  const refused = await target.call('POST /v1/webhook-endpoints', { json: { id: 'we_mine', url: 'ftp://h' } })
  expect(refused.status).toBe(422)
  for (const gone of [id, 'we_mine'])
    for (const route of [`GET /v1/webhook-endpoints/${gone}`, `POST /v1/webhook-endpoints/${gone}/test`])
      expect(await target.call(route)).toMatchObject({ status: 404 })
  expect((await target.client.endpoints.list()).data).toEqual([])
  await target.stands(refused)
})
