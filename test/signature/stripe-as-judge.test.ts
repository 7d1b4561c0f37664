import fc from 'fast-check'
import { Stripe } from 'stripe'
import { expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { sign, verify } from '../../src/signature/index.ts'

const { webhooks } = new Stripe('sk_test_x')
const anySecret = fc.base64String({ minLength: 1 }).map((text) => `whsec_${text}`)
const anyPayload = fc.json({ stringUnit: 'binary' }).map((data) => `{"id":"evt_1","data":${data}}`)

/** Whether Stripe's own library, which shares the scheme, takes the delivery. */
function stripeTakes(payload: string, header: string, secret: string, tolerance: number): boolean {
  try {
    webhooks.constructEvent(payload, header, secret, tolerance)
    return true
  } catch {
    return false
  }
}

const now = () => Math.floor(Date.now() / 1000)

test('Stripe accepts the deliveries that Tabwire signs', () => {
  const cases = fc.property(anyPayload, anySecret, (payload, secret) => {
    const header = sign({ payload, secret, timestamp: now() })
    expect(stripeTakes(payload, header, secret, 300)).toBe(true)
  })
  fc.assert(cases, { numRuns: isSoak ? 1000 : 300 })
})

test('Tabwire accepts the deliveries that Stripe signs', () => {
  const cases = fc.property(anyPayload, anySecret, (payload, secret) => {
    const header = webhooks.generateTestHeaderString({ payload, secret })
    expect(verify({ payload, header, secret })).toMatchObject({ ok: true })
  })
  fc.assert(cases, { numRuns: isSoak ? 1000 : 300 })
})

test('Tabwire and Stripe accept the same of damaged deliveries, old ones and wrong secrets', () => {
  const damages = fc.constantFrom('none', 'payload', 'secret', 'v1', 'v0', 'time', 'upper', 'two')
  // Never within two seconds of the bound: the two verifiers read the clock one after the other.
  const age = fc.oneof(fc.nat(297), fc.integer({ min: 303, max: 10_000 }))
  const cases = fc.property(anyPayload, anySecret, damages, age, (payload, secret, damage, seconds) => {
    const timestamp = now() - seconds
    const given = damaged({ payload, secret, header: sign({ payload, secret, timestamp }) }, damage)
    const stripe = stripeTakes(given.payload, given.header, given.secret, 300)
    expect(verify({ ...given, tolerance: 300 }).ok).toBe(stripe)
  })
  fc.assert(cases, { numRuns: isSoak ? 1000 : 300 })
})

test('Stripe accepts a timestamp in the future, and Tabwire refuses it', () => {
  const [payload, secret] = ['{"id":"evt_1"}', 'whsec_x']
  const header = sign({ payload, secret, timestamp: now() + 310 })
  expect(stripeTakes(payload, header, secret, 300)).toBe(true)
  expect(verify({ payload, header, secret })).toMatchObject({ ok: false, code: 'timestamp_in_future' })
})

interface Given {
  payload: string
  secret: string
  header: string
}

function damaged({ payload, secret, header }: Given, damage: string): Given {
  if (damage === 'payload') return { payload: `${payload} `, secret, header }
  if (damage === 'secret') return { payload, secret: `${secret}x`, header }
  return { payload, secret, header: damagedHeader(header, damage) }
}

function damagedHeader(header: string, damage: string): string {
  if (damage === 'v1') return header.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  if (damage === 'v0') return header.replace('v1=', 'v0=')
  if (damage === 'time') return header.replace('t=1', 't=2')
  if (damage === 'upper') return header.replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase())
  return damage === 'two' ? header.replace('v1=', 'v1=potato,v1=') : header
}
