import { describe, expect, it } from 'vitest'
import type { ValidationIssue } from '../../../src/model/validation.ts'
import { check, errorOf, item, openSimulator, totals } from '../../support/simulator.ts'

const route = 'PUT /v1/checks/external/a'
const paths = (issues: unknown) => (issues as ValidationIssue[]).map(({ path }) => path).sort()

/** A valid push with one field put to another value, or left out when that is undefined. */
function withField(path: string, value: unknown): unknown {
  const body = structuredClone(check()) as unknown as Record<string, unknown>
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  const parent = keys.reduce((object, key) => object[key] as Record<string, unknown>, body)
  parent[last] = value
  return body
}

describe('a push', () => {
  it.each<[path: string, values: unknown[]]>([
    ['table', [undefined, null, '12', [], 12]],
    ['table.number', [undefined, null, '', 12, 'x'.repeat(65)]],
    ['status', [undefined, null, 'paid', 'OPEN', '', 1]],
    ['items', [undefined, null, {}, 'none', Array.from({ length: 1001 }, (_, n) => item(`i${n}`))]],
    ['items.0', [null, 'burger', []]],
    ['items.0.external_id', [undefined, null, '', 1, 'x'.repeat(256)]],
    ['items.0.name', [undefined, null, '', 1, 'x'.repeat(256)]],
    ['items.0.quantity', [undefined, null, 0, -1, '1', 1_000_001]],
    ['items.0.price_cents', [undefined, null, 1.5, '1850', 2 ** 53, -(2 ** 53)]],
    ['items.0.note', [1, {}, 'x'.repeat(1001)]],
    ['totals', [undefined, null, [], 1850]],
    ['totals.subtotal_cents', [undefined, null, 0.5, '1', 2 ** 53]],
    ['totals.tax_cents', [undefined, null, 0.5, '1', -(2 ** 53)]],
    ['totals.total_cents', [undefined, null, 0.5, '1', -1]],
    ['revision', [null, -1, 1.5, '1', 2 ** 53]],
  ])('with a bad %s is 422 and names that path, and nothing is stored', async (path, values) => {
    const simulator = await openSimulator()
    for (const value of values) {
      const answer = await simulator.call(route, { json: withField(path, value) })
      expect(answer.status).toBe(422)
      const { code, issues } = errorOf(answer)
      expect(code).toBe('validation_failed')
      expect(paths(issues)).toEqual([path.replace('.0', '[0]')])
    }
    expect((await simulator.client.checks.list()).data).toEqual([])
    expect((await simulator.client.events.list()).data).toEqual([])
  })

  it.each<[path: string, values: unknown[]]>([
    ['table.number', ['1', 'x'.repeat(64), 'Terrasse 3 🌿', ' ']],
    ['status', ['open', 'closed']],
    ['items', [[], Array.from({ length: 1000 }, (_, n) => item(`i${n}`))]],
    ['items.0.external_id', ['1', 'x'.repeat(255), '__proto__', '🍮']],
    ['items.0.quantity', [0.0001, 0.001, 0.333, 0.3333333333333333, 1.5, 1e6]],
    ['items.0.price_cents', [0, -500, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
    ['items.0.note', [undefined, null, '', 'x'.repeat(1000), 'no\nonion']],
    ['totals.subtotal_cents', [-1, 0, Number.MAX_SAFE_INTEGER]],
    ['totals.tax_cents', [-1, 0]],
    ['totals.total_cents', [0, Number.MAX_SAFE_INTEGER]],
    ['revision', [undefined, 0, 1, 1_795_250_000_000, Number.MAX_SAFE_INTEGER]],
  ])('with %s at its bounds is accepted', async (path, values) => {
    const simulator = await openSimulator()
    for (const [index, value] of values.entries()) {
      const { status } = await simulator.call(`PUT /v1/checks/external/check-${index}`, {
        json: withField(path, value),
      })
      expect(status).toBe(201)
    }
  })

  it('gets all its issues at once', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, {
      json: {
        table: {},
        status: 'paid',
        items: [item('a'), { ...item('a'), quantity: 0 }, { external_id: 'c', name: '', price_cents: '1' }],
        totals: { subtotal_cents: 1.5, total_cents: -1 },
        revision: -1,
      },
    })
    const { issues, message } = errorOf(answer)
    expect(paths(issues)).toEqual([
      'items[1].external_id',
      'items[1].quantity',
      'items[2].name',
      'items[2].price_cents',
      'items[2].quantity',
      'revision',
      'status',
      'table.number',
      'totals.subtotal_cents',
      'totals.tax_cents',
      'totals.total_cents',
    ])
    for (const issue of issues as ValidationIssue[]) {
      expect(Object.keys(issue)).toEqual(['path', 'message'])
      expect(issue.message).toMatch(/^(must|is) /)
    }
    expect(message).toContain('(and 10 more, see issues)')
  })

  it('that is refused changes no check and emits no event', async () => {
    const simulator = await openSimulator()
    const { text } = await simulator.push('a')
    expect(await simulator.push('a', { items: [item('x'), item('x')], totals: totals(1) })).toMatchObject({
      status: 422,
    })
    expect((await simulator.call('GET /v1/checks/external/a')).text).toBe(text)
    expect((await simulator.client.events.list()).data).toHaveLength(1)
  })
})

describe('unknown fields', () => {
  const json = {
    ...check({
      items: [{ ...item('burger'), sku: 1 } as never],
      totals: { ...totals(1850), tip: 1 } as never,
    }),
    table: { number: '12', room: 'garden' },
    covers: 4,
  }

  it('are ignored, not returned, and reported as a finding', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, { json })
    expect(answer.status).toBe(201)
    expect(answer.text).not.toMatch(/sku|tip|room|covers/)
    const { push } = await simulator.client.requests.get(answer.headers.get('x-request-id') ?? '')
    expect(push?.findings.map(({ code }) => code)).toEqual(['unknown_field'])
  })

  it('are 422 with --strict, each of them named', async () => {
    const simulator = await openSimulator({ strict: true })
    const answer = await simulator.call(route, { json })
    expect(answer.status).toBe(422)
    expect(paths(errorOf(answer).issues)).toEqual(['covers', 'items[0].sku', 'table.room', 'totals.tip'])
    expect(await simulator.push('a')).toMatchObject({ status: 201 })
  })
})
