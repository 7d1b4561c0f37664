/* What a project with strict settings may write. It runs nowhere: `tsc -p test` compiles it against dist, as published. */
import {
  createSimulator,
  NotDelivered,
  type Clock,
  type Delivery,
  type PushInput,
  type Simulator,
  type SimulatorOptions,
} from 'tabwire'
import { ApiError, createClient, type Client, type DeliveriesQuery } from 'tabwire/client'
import { handlers } from 'tabwire/msw'
import { verify, type Verification } from 'tabwire/signature'
import { simulatorFixtures, simulatorTest, type SimulatorFixtures } from 'tabwire/vitest'
import { expect, test as base } from 'vitest'

const options: SimulatorOptions = { port: false, seed: 7, clock: 0, serviceName: 'Acme', rateLimit: '10/s' }
const clock: Clock = { now: () => new Date(), at: () => () => {} }
const earlier: SimulatorOptions = { startAt: new Date(0), dataDirectory: '.', ca: [], allowedHosts: [] }
const simulator: Simulator = await createSimulator(options)
const body: PushInput = {
  table: { number: '12' },
  status: 'open',
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
}
const { check } = await simulator.checks.push('table-12', body)
const balance: number = check.balance_cents
const [delivery] = await simulator.deliveries.waitFor({ type: 'check.created', check })
const status: Delivery['status'] = delivery.status
const takeBack: () => void = simulator.receive('https://shop.example', (request) => fetch(request))
const client: Client = createClient({ url: simulator.url, fetch: simulator.fetch })
const result: Verification = verify({ payload: '', header: null, secret: 'whsec_…' })
export const isRefusal = (error: unknown) => error instanceof ApiError || error instanceof NotDelivered
for (const calls of [client, simulator]) {
  const { data: payment } = await calls.events.waitFor('payment.succeeded', {
    check,
    signal: AbortSignal.abort(),
  })
  const tip: number = payment.tip_cents
  await calls.deliveries.none({ type: 'check.closed', endpoint: delivery.endpoint_id })
  const query: DeliveriesQuery = { status: 'dead', external_check_id: check.external_id }
  for await (const { attempts } of calls.deliveries.all(query)) attempts.map(({ outcome }) => [outcome, tip])
  for await (const message of calls.stream())
    if (message.type === 'event' && message.data.type === 'check.closed')
      message.data.data.items.length.toFixed()
}
export const bodies: string[] = simulator.received('https://shop.example').map(({ body }) => body)
export const issuesOf = (error: ApiError): readonly { path: string }[] =>
  error.is('validation_failed') ? error.body.issues : []
export const used = [balance, status, takeBack, client, result, earlier, clock]
await simulator.checks.push('table-12', body, { timeout: 1_000, signal: AbortSignal.abort() })
const [registered] = (await client.endpoints.list()).data
if (registered !== undefined)
  await client.endpoints.create({ url: registered.url, event_types: registered.event_types })
const { claim_ids } = await client.payments.get('pay_1')
await client.guests.pay(check, { claim_ids, tip_cents: undefined })
await client.guests.claim(check, { items: (await client.claims.get('clm_1')).items, guest_name: undefined })
await client.faults.set({ faults: [{ on: 'deliveries', drop: 1, event_types: ['check.closed'] as const }] })
export const mocked = handlers(simulator, { baseUrl: 'https://api.example.com/v1' })

const test = simulatorTest({ strict: true })
test('matchers and fixtures have types', async ({ simulator, fileSimulator }) => {
  await expect(simulator).toHaveDelivered('check.created', { check, times: undefined })
  await expect(fileSimulator).not.toConverge([], { orders: 3 })
  await expect(simulator).toHaveNoFindings({ except: ['totals_mismatch'] })
  await expect(new Request('https://shop.example')).toBeSignedBy('whsec_…')
})
base.extend<SimulatorFixtures>(simulatorFixtures())('a test of its own', ({ simulator }) => simulator.close())

// @ts-expect-error no such event
await simulator.deliveries.waitFor({ type: 'check.eaten' })
// @ts-expect-error a check has a status
await simulator.checks.push('table-12', { table: { number: '12' }, items: [], totals: check.totals })
// @ts-expect-error no such query
await client.deliveries.list({ chek: 'table-12' })
// @ts-expect-error no such event
await client.events.waitFor('check.creatd')
// @ts-expect-error no such code
export const isLost = (error: ApiError) => error.is('not_fond')
// @ts-expect-error no such option
await createSimulator({ portt: 1 })
// @ts-expect-error no such event
await expect(simulator).toHaveDelivered('check.eaten')
