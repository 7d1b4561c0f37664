import { isSoak } from '../../soak/seeded.ts'
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import * as node from '../../../src/signature/node.ts'
import type { DiagnoseOptions } from '../../../src/signature/diagnose/diagnose.ts'
import * as web from '../../../src/signature/web.ts'
import { verifyAndDiagnose } from '../../../src/cli/verify.ts'
import { tabwire } from '../../support/cli.ts'
import { makeVectors, publishedText, type Vector } from './make.ts'

// Written by: npx vitest run test/signature/published/make.test.ts --update
test('the vectors are published as fixtures/signature-vectors.json', async () => {
  await expect(publishedText()).toMatchFileSnapshot('../../../fixtures/signature-vectors.json')
})

const schema = new URL('../../../fixtures/signature-vectors.schema.json', import.meta.url)
const vectors = makeVectors()

describe('fixtures/signature-vectors.json', () => {
  const text = publishedText()
  const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(schema, 'utf8')) as object,
  )

  test('has the published format', () => {
    expect([validate(JSON.parse(text)), validate.errors]).toEqual([true, null])
  })

  test('has at least 150 vectors with a name of their own, and less than 200 kB', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150)
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    expect(text.length).toBeLessThan(200_000)
  })

  test('repeats no input', () => {
    const inputs = vectors.map(({ secret, header, body, now, tolerance }) =>
      JSON.stringify([secret, header, body, now, tolerance]),
    )
    const repeated = vectors.filter((_, at) => inputs.indexOf(inputs[at] ?? '') !== at)
    expect(repeated.map(({ name }) => name)).toEqual([])
  })

  test.each<[string, object]>([
    ['a rejected vector without a reason', { reason: undefined }],
    ['an unknown verdict', { verdict: 'maybe' }],
    ['an unknown reason', { reason: 'too_short' }],
    ['a fraction of a second', { now: 1.5 }],
    ['an unknown field', { comment: '' }],
  ])('its schema refuses %s', (_, change) => {
    const rejected = vectors.find(({ verdict }) => verdict === 'rejected')
    const changed: unknown = JSON.parse(JSON.stringify({ ...rejected, ...change }))
    const others = vectors.filter((one) => one !== rejected)
    expect(validate({ format: 1, vectors: others })).toBe(true)
    expect(validate({ format: 1, vectors: [...others, changed] })).toBe(false)
  })
})

function optionsOf({ secret, header, body, now, tolerance }: Vector): DiagnoseOptions {
  return { payload: Buffer.from(body, 'base64'), header, secret, now: now * 1000, tolerance }
}

const decided = vectors.filter(({ verdict }) => verdict !== 'either')

describe.each([
  ['tabwire/signature', node.verify],
  ['tabwire/signature/web', web.verify],
  [
    'the verifier of tabwire verify',
    async (options: DiagnoseOptions) => (await verifyAndDiagnose(options)).result,
  ],
])('%s', (_, verify) => {
  test.each(decided)('$name', async (vector) => {
    const result = await verify(optionsOf(vector))
    expect(result).toMatchObject(
      vector.verdict === 'accepted' ? { ok: true } : { ok: false, code: vector.reason },
    )
  })

  test('gives a verdict for each form that the specification leaves open', async () => {
    const open = vectors.filter(({ verdict }) => verdict === 'either')
    expect(open.length).toBeGreaterThan(0)
    for (const vector of open) expect(typeof (await verify(optionsOf(vector))).ok).toBe('boolean')
  })
})

test.runIf(isSoak)(
  'tabwire verify --many gives the verdicts of all vectors with one secret and time',
  async () => {
    const [first] = vectors
    const alike = decided.filter(
      ({ secret, now, tolerance }) =>
        secret === first?.secret && now === first.now && tolerance === first.tolerance,
    )
    expect(alike.length).toBeGreaterThan(150)
    const input = alike.map(({ header, body }) => JSON.stringify({ header, body_base64: body })).join('\n')
    const { secret = '', now, tolerance } = first ?? {}
    const args = ['--secret', secret, '--now', String(now), '--tolerance', String(tolerance), '--many', '-']
    const { stdout } = await tabwire(['verify', ...args, '--json'], { input })
    const results = stdout
      .trim()
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { ok: boolean }).ok)
    expect(results).toEqual(alike.map(({ verdict }) => verdict === 'accepted'))
  },
)
