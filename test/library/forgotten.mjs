/* Makes simulators, uses them and does not close them; tells whether a port keeps it, without and with `ref`. */
import { createSimulator } from 'tabwire'

const check = {
  table: { number: '12' },
  status: 'open',
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
}
await createSimulator({ port: false })
await createSimulator({ https: true, dataDirectory: '.tabwire' })
const other = await createSimulator()
other.receive('https://shop.example', () => new Response(null, { status: 503 }))
await other.endpoints.create({ url: 'https://shop.example/' })
await other.endpoints.create({ url: 'https://127.0.0.1:1/' })
await other.checks.push('table-12', check)
await other.idle()
// Its connection stays open for the next request.
await (await fetch(`${other.url}/_sim/health`)).text()
process.stdout.write(`${process.getActiveResourcesInfo().includes('TCPServerWrap')}\n`)
const kept = await createSimulator({ ref: true })
process.stdout.write(`${process.getActiveResourcesInfo().includes('TCPServerWrap')}\n`)
await kept.close()
