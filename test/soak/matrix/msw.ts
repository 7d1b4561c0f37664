/* The handlers under whichever msw; compiled against its types, and run as `msw.mjs`, which the compiler makes of it. */
import { setupServer } from 'msw/node'
import { createSimulator } from 'tabwire'
import { handlers } from 'tabwire/msw'

const simulator = await createSimulator({ port: false })
const server = setupServer(...handlers(simulator, { baseUrl: 'https://api.example.com/v1' }))
server.listen()
const headers = { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' }
const pushed = await fetch('https://api.example.com/v1/checks/external/table-12', {
  method: 'PUT',
  headers,
  body: JSON.stringify({
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
    totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
  }),
})
server.close()
await simulator.close()
if (pushed.status !== 201) throw new Error(`The push was answered ${pushed.status}.`)
process.stdout.write('passed\n')
