import { describe, expect, test } from 'vitest'
import { put } from '../../src/model/records.ts'
import { viewEndpoint } from '../../src/model/webhook-endpoint.ts'
import { registerEndpoint } from '../../src/operations/register-endpoint.ts'
import { noon } from './push-given.ts'

const secret = `whsec_${'a'.repeat(43)}`
const command = {
  location_id: 'loc_1',
  url: 'https://shop.example/hooks',
  event_types: ['check.created' as const],
}

/** When an endpoint is registered, with a secret of the caller's own or without: what is decided. */
function decide(chosen: { signing_secret?: string } = {}) {
  const context = { now: noon, newId: (prefix: string) => `${prefix}_new`, newSecret: () => secret }
  return registerEndpoint.decide({}, { ...command, ...chosen }, context)
}

describe('registering an endpoint', () => {
  test('makes one that is enabled, has failed nothing yet, and has a new secret', () => {
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

  test('takes the secret that the caller has chosen', () => {
    const signing_secret = `whsec_${'b'.repeat(43)}`
    expect(decide({ signing_secret }).reply).toMatchObject({ signing_secret })
  })

  test('looks at no other endpoint: a URL that is registered already gets another one', () => {
    expect(registerEndpoint.reads()).toEqual({})
  })

  test('makes one whose view shows neither its secret nor its count of failures', () => {
    const view = viewEndpoint(decide().reply)
    expect(Object.keys(view)).not.toContain('signing_secret')
    expect(Object.keys(view)).not.toContain('consecutive_failures')
    expect(JSON.stringify(view)).not.toContain(secret)
  })
})
