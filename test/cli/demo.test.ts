import { Stripe } from 'stripe'
import { expect, test } from 'vitest'
import { createAuthority } from '../../src/certificates/authority.ts'
import {
  type DemoStep,
  playDemo,
  startReceiver,
  verifyByWebCrypto,
  type VerifySignature,
} from '../../src/cli/demo.ts'
import { createClient } from '../../src/client.ts'
import { startSimulator } from '../../src/simulator.ts'

const { webhooks } = new Stripe('sk_test_x')

/** Stripe's own library, which shares the scheme and knows nothing of Tabwire. */
const judgeByStripe: VerifySignature = async (body, header, secret) => {
  try {
    webhooks.constructEvent(body, header, secret)
    return true
  } catch {
    return false
  }
}

async function play(judge: VerifySignature): Promise<DemoStep[]> {
  const authority = await createAuthority()
  const simulator = await startSimulator({ port: 0, ca: [authority.certificatePem] })
  const receiver = await startReceiver(await authority.issue(['localhost', '127.0.0.1']), judge)
  const steps: DemoStep[] = []
  try {
    for await (const step of playDemo(createClient(simulator), receiver)) steps.push(step)
    await simulator.idle()
    return steps
  } finally {
    await receiver.close()
    await simulator.close()
  }
}

const verified = (steps: readonly DemoStep[]) =>
  steps.flatMap((step) => (step.type === 'delivered' ? [[step.event_type, step.verified]] : []))

test.each([
  ["Stripe's library", judgeByStripe],
  ['Web Crypto', verifyByWebCrypto],
])('every delivery of the demo is verified by %s', async (_name, judge) => {
  expect(verified(await play(judge))).toEqual([
    ['ping', true],
    ['check.created', true],
    ['check.updated', true],
    ['claim.created', true],
    ['payment.succeeded', true],
    ['payment.succeeded', true],
    ['check.fully_paid', true],
    ['check.closed', true],
    ['payment.refunded', true],
    ['feedback.received', true],
  ])
})

test.each([
  ["Stripe's library", judgeByStripe],
  ['Web Crypto', verifyByWebCrypto],
])('%s refuses another body, another secret and an old timestamp', async (_name, judge) => {
  const payload = '{"id":"evt_1"}'
  const secret = 'whsec_x'
  const header = webhooks.generateTestHeaderString({ payload, secret })
  const old = webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(Date.now() / 1000) - 400,
  })
  const judged = (body: string, of: string, key: string) => judge(Buffer.from(body), of, key)
  expect(await judged(payload, header, secret)).toBe(true)
  expect(await judged(`${payload} `, header, secret)).toBe(false)
  expect(await judged(payload, header, 'whsec_y')).toBe(false)
  expect(await judged(payload, old, secret)).toBe(false)
  expect(await judged(payload, '', secret)).toBe(false)
})
