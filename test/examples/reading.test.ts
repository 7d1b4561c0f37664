import { simulatorTest } from 'tabwire/vitest'
import { expect } from 'vitest'

const test = simulatorTest({ port: false })

test('the shop reads events, deliveries and checks', async ({ simulator, signal }) => {
  const shop = 'https://shop.example/webhooks'
  simulator.receive(shop)
  await simulator.endpoints.create({ url: shop })
  await simulator.checks.push('table-12', {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  })
  await simulator.guests.pay('table-12')

  const [delivery] = await simulator.deliveries.waitFor({ type: 'check.created', check: 'table-12', signal })
  expect(delivery?.attempts.map((attempt) => attempt.response_status)).toEqual([204])

  const { data } = await simulator.events.waitFor('payment.succeeded') // TypeScript knows that data is a payment
  expect(data.amount_cents).toBe(3154)

  await simulator.deliveries.none({ type: 'check.closed' }) // none arrived, is due or in flight

  for await (const check of simulator.checks.all({ status: 'open' })) expect(check.balance_cents).toBe(0)

  await simulator.idle() // nothing is due or in flight any more
  const types = simulator.received(shop).map(({ body }) => (JSON.parse(body) as { type: string }).type)
  expect(types.toSorted()).toEqual(['check.created', 'check.fully_paid', 'payment.succeeded'])
})
