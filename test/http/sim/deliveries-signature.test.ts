import { expect, it } from 'vitest'
import { createManualClock } from '../../support/manual-clock.ts'
import { errorOf, openReceiver, openSimulator, type TestSimulator } from '../../support/simulator.ts'

const event_types = ['check.created' as const]
const signatureOf = (simulator: TestSimulator, id: string) =>
  simulator.call(`GET /_sim/deliveries/${id}/signature`)

async function newest({ client }: TestSimulator): Promise<string> {
  return (await client.deliveries.list({ limit: 1 })).data[0]?.id ?? ''
}

it('GET /_sim/deliveries/{id}/signature returns the header of the latest attempt, as the receiver got it', async () => {
  const clock = createManualClock()
  const simulator = await openSimulator({ clock, signTime: 'virtual' })
  const receiver = await openReceiver(500)
  const { signing_secret } = await simulator.client.endpoints.create({ url: receiver.url, event_types })
  await simulator.push('dinner')
  await simulator.idle()
  clock.advance(60_000)
  await simulator.idle()
  const [first, second] = (await receiver.received(2)).map(({ headers }) => headers['x-service-signature'])
  expect(second).not.toBe(first)
  const { status, json, text } = await signatureOf(simulator, await newest(simulator))
  expect(status).toBe(200)
  expect(json).toEqual({ attempt: 2, signature: second })
  expect(text).not.toContain(signing_secret)
})

it('GET /_sim/deliveries/{id}/signature is 404 before the first attempt, and for an unknown delivery', async () => {
  const simulator = await openSimulator()
  const receiver = await openReceiver(() => undefined)
  await simulator.client.endpoints.create({ url: receiver.url, event_types })
  await simulator.push('dinner')
  await receiver.received(1)
  const waiting = await signatureOf(simulator, await newest(simulator))
  expect(waiting.status).toBe(404)
  expect(errorOf(waiting).message).toMatch(/has not been attempted yet/)
  expect((await signatureOf(simulator, 'dlv_none')).status).toBe(404)
})
