import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Ajv from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { pushBody } from '../../src/model/check.ts'
import { fixtures, situationFiles } from '../findings/situations.ts'

/** The schema as published: a push may name it, and other fields are ignored. */
function published(): object {
  const { properties, ...json } = z.toJSONSchema(pushBody, { io: 'input' })
  return {
    title: 'A check, as a point-of-sale system pushes it',
    ...json,
    properties: { $schema: { type: 'string' }, ...properties },
  }
}

// Written by: npx vitest run test/model/check-schema.test.ts --update
test('the format of a push is published as fixtures/check.schema.json', async () => {
  await expect(`${JSON.stringify(published(), null, 2)}\n`).toMatchFileSnapshot(
    '../../fixtures/check.schema.json',
  )
})

describe('fixtures/check.schema.json', () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(published())

  test.each(situationFiles)('is named by %s, and accepts it', (file) => {
    const body = JSON.parse(readFileSync(file, 'utf8')) as { $schema: string }
    expect(join(dirname(file), body.$schema)).toBe(join(fixtures, 'check.schema.json'))
    expect([validate(body), validate.errors]).toEqual([true, null])
  })

  const body = {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: '1', name: 'Soup', quantity: 1, price_cents: 900 }],
    totals: { subtotal_cents: 900, tax_cents: 0, total_cents: 900 },
  }
  test.each<[string, object]>([
    ['without totals', { ...body, totals: undefined }],
    ['with a status that does not exist', { ...body, status: 'paid' }],
    ['with a quantity of 0', { ...body, items: [{ ...body.items[0], quantity: 0 }] }],
    ['with a price in dollars', { ...body, items: [{ ...body.items[0], price_cents: 9.5 }] }],
    ['with a negative total', { ...body, totals: { ...body.totals, total_cents: -1 } }],
    ['with an empty table', { ...body, table: { number: '' } }],
  ])('refuses a push %s', (_what, wrong) => {
    expect(validate(body)).toBe(true)
    expect(validate(JSON.parse(JSON.stringify(wrong)))).toBe(false)
  })
})
