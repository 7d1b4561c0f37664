/* Jest with ES modules, and its fake timers, which replace everything. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { jest } from '@jest/globals'
import { createSimulator } from 'tabwire'

const check = {
  table: { number: '12' },
  status: 'open',
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
}

test('deliveries arrive and are retried while all timers are fake', async () => {
  let calls = 0
  const shop = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(++calls === 1 ? 503 : 204).end())
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  jest.useFakeTimers({ now: new Date('2020-02-02T02:02:02.000Z') })
  const simulator = await createSimulator({ allowHttpLoopback: true })
  simulator.receive('https://shop.example', () => new Response(null, { status: 204 }))
  await simulator.endpoints.create({ url: 'https://shop.example/' })
  const endpoint = await simulator.endpoints.create({ url: `http://127.0.0.1:${shop.address().port}/` })
  await simulator.checks.push('table-12', check)
  await simulator.idle()
  await simulator.clock.advance('1m')
  const [delivery] = await simulator.deliveries.waitFor({ endpoint })
  expect(delivery.attempts.map(({ response_status }) => response_status)).toEqual([503, 204])
  await simulator.close()
  jest.useRealTimers()
  shop.close()
})
