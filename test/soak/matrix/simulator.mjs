/* The simulator under whichever runtime: a delivery in this process and one over a port, refused once and tried again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSimulator } from 'tabwire'
import { parseEvent, verify } from 'tabwire/signature'
import { verify as verifyByWebCrypto } from 'tabwire/signature/web'

const simulator = await createSimulator({ allowHttpLoopback: true })
const verified = []
let secret
simulator.receive('https://shop.example', async (request) => {
  const payload = await request.text()
  const header = request.headers.get('x-service-signature')
  verified.push((await verifyByWebCrypto({ payload, header, secret })).ok, parseEvent(payload).type)
  return new Response(null, { status: 204 })
})
let calls = 0
const shop = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(++calls === 1 ? 503 : 204).end())
}).listen(0, '127.0.0.1')
await once(shop, 'listening')
const { port } = shop.address()
const endpoint = await simulator.endpoints.create({ url: `http://127.0.0.1:${port}/` })
secret = (await simulator.endpoints.create({ url: 'https://shop.example/' })).signing_secret
assert.equal((await fetch(`${simulator.url}/_sim/health`)).status, 200)
await simulator.checks.push('table-12', {
  table: { number: '12' },
  status: 'open',
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
})
await simulator.idle()
await simulator.clock.advance('1m')
const [delivery] = await simulator.deliveries.waitFor({ endpoint })
assert.deepEqual(
  delivery.attempts.map(({ response_status }) => response_status),
  [503, 204],
)
assert.deepEqual(verified, [true, 'check.created'])
assert.equal(verify({ payload: 'x', header: 't=1,v1=0', secret }).code, 'signature_mismatch')
await simulator.close()
shop.close()
process.stdout.write('passed\n')
