import { simulatorTest } from 'tabwire/vitest'
import { expect } from 'vitest'

const test = simulatorTest({ port: false })

test('a refused delivery is retried', async ({ simulator }) => {
  // Replace this function by your application's handler, from Request to Response.
  const shop = 'https://shop.example/webhooks'
  simulator.receive(shop, () => {
    const isFirst = simulator.received(shop).length === 1
    return new Response(null, { status: isFirst ? 503 : 204 })
  })
  const { signing_secret } = await simulator.endpoints.create({ url: shop })

  await simulator.checks.push('table-12', {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  })
  await expect(simulator).not.toHaveDelivered('check.created')

  await simulator.clock.advance('1m')
  await expect(simulator).toHaveDelivered('check.created', { check: 'table-12', times: 1 })
  for (const request of simulator.received(shop)) await expect(request).toBeSignedBy(signing_secret)
  await expect(simulator).toHaveNoFindings()
})
