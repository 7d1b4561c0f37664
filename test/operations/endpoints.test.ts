import { describe, expect, test } from 'vitest'
import { put } from '../../src/model/records.ts'
import { viewEndpoint } from '../../src/model/webhook-endpoint.ts'
import { registerEndpoint } from '../../src/operations/endpoints.ts'
import { noon } from './push-fixtures.ts'

const secret = `whsec_${'a'.repeat(43)}`
const command = {
  location_id: 'loc_1',
  url: 'https://shop.example/hooks',
  event_types: ['check.created' as const],
}

/** Returns the decision for a registration, with or without a chosen secret. */
function decide(chosen: { signing_secret?: string } = {}) {
  const context = {
    now: noon,
    newId: (prefix: string) => `${prefix}_new`,
    newSecret: () => secret,
    generation: 0,
  }
  return registerEndpoint.decide({}, { ...command, ...chosen }, context)
}

describe('registering an endpoint', () => {
  test('creates an enabled endpoint without failures and with a new secret', () => {
    const { reply, writes, events } = decide()
    expect(reply).toMatchObject({
      ...command,
      id: 'we_new',
      status: 'enabled',
      disabled_at: null,
      disabled_reason: null,
      created_at: noon.toISOString(),
      signing_secret: secret,
      consecutive_failures: 0,
    })
    expect(writes).toEqual([put('endpoints', reply)])
    expect(events).toEqual([])
  })

  test('uses the secret that the caller chose', () => {
    const signing_secret = `whsec_${'b'.repeat(43)}`
    expect(decide({ signing_secret }).reply).toMatchObject({ signing_secret })
  })

  test('creates an endpoint whose view has neither its secret nor its failure count', () => {
    const view = viewEndpoint(decide().reply)
    expect(Object.keys(view)).not.toContain('signing_secret')
    expect(Object.keys(view)).not.toContain('consecutive_failures')
    expect(JSON.stringify(view)).not.toContain(secret)
  })
})
