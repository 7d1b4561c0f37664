import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { createSimulator } from 'tabwire'
import { handlers } from 'tabwire/msw'
import { verify } from 'tabwire/signature'
import { afterAll, beforeAll, expect, test } from 'vitest'

const simulator = await createSimulator({ port: false })
const server = setupServer(...handlers(simulator, { baseUrl: 'https://api.example.com/v1' }))
simulator.receive('https://shop.example', (request) => fetch(request)) // msw handles it below

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterAll(async () => {
  server.close()
  await simulator.close()
})

test('a refused delivery is retried', async () => {
  // Replace this function by your application, which calls the real address.
  const call = (method: string, path: string, body: object) =>
    fetch(`https://api.example.com/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const registered = await call('POST', '/webhook-endpoints', {
    url: 'https://shop.example/webhooks',
    event_types: ['check.created'],
  })
  const { signing_secret: secret } = (await registered.json()) as { signing_secret: string }
  const verified: boolean[] = []
  server.use(
    http.post('https://shop.example/webhooks', async ({ request }) => {
      const header = request.headers.get('x-service-signature')
      verified.push(verify({ payload: await request.text(), header, secret }).ok)
      return new HttpResponse(null, { status: verified.length === 1 ? 503 : 204 })
    }),
  )

  const pushed = await call('PUT', '/checks/external/table-12', {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  })
  expect(pushed.status).toBe(201)
  await simulator.idle()
  await simulator.clock.advance('1m')
  await simulator.deliveries.waitFor({ type: 'check.created', check: 'table-12' })
  expect(verified).toEqual([true, true])
})
