import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createSimulator } from 'tabwire'
import { verify } from 'tabwire/signature'

test('a refused delivery is retried', async (t) => {
  const simulator = await createSimulator({ allowHttpLoopback: true })
  t.after(() => simulator.close())

  // Replace this server by your application.
  let secret
  const verified = []
  const shop = createServer(async (request, response) => {
    const payload = await text(request)
    verified.push(verify({ payload, header: request.headers['x-service-signature'], secret }).ok)
    response.writeHead(verified.length === 1 ? 503 : 204).end()
  }).listen(0, '127.0.0.1')
  t.after(() => shop.close())
  await once(shop, 'listening')
  const url = `http://127.0.0.1:${shop.address().port}/webhooks`
  secret = (await simulator.endpoints.create({ url })).signing_secret

  await simulator.checks.push('table-12', {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  })
  await simulator.idle()
  await simulator.clock.advance('1m')

  const [delivery] = await simulator.deliveries.waitFor({ type: 'check.created', check: 'table-12' })
  assert.deepEqual(
    delivery.attempts.map(({ response_status }) => response_status),
    [503, 204],
  )
  assert.deepEqual(verified, [true, true])
})
