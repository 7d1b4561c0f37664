import { simulatorTest } from 'tabwire/vitest'
import { expect } from 'vitest'

const test = simulatorTest({ port: false })

test('what the shop refuses comes again', async ({ simulator }) => {
  // Stands for your application: a function from Request to Response, as the handlers of most frameworks are.
  const received: Request[] = []
  simulator.receive('https://shop.example/webhooks', (request) => {
    received.push(request)
    return new Response(null, { status: received.length === 1 ? 503 : 204 })
  })
  const { signing_secret } = await simulator.endpoints.create({ url: 'https://shop.example/webhooks' })

  await simulator.checks.push('table-12', {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  })
  await expect(simulator).not.toHaveDelivered('check.created')

  await simulator.clock.advance('1m')
  await expect(simulator).toHaveDelivered('check.created', { check: 'table-12', times: 1 })
  for (const request of received) await expect(request).toBeSignedBy(signing_secret)
  await expect(simulator).toHaveNoFindings()
})
