/* Makes, uses and closes so many simulators as its argument says, one after the other, and tells as JSON what is left of
 * them. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { createSimulator } from 'tabwire'

const check = {
  table: { number: '12' },
  status: 'open',
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
}
const receiver = createServer((request, response) =>
  request.resume().on('end', () => response.writeHead(204).end()),
)
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')

/** What is left once everything that was closed is gone. */
async function left() {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  globalThis.gc()
  return {
    // The process's own streams are opened when they are first looked at.
    streams: [process.stdin, process.stdout, process.stderr].map(({ fd }) => fd),
    heap: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().sort(),
    listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  }
}

async function use(number) {
  const simulator = await createSimulator({
    allowHttpLoopback: true,
    ...(number % 2 === 0 && { port: false }),
  })
  simulator.receive('https://shop.example', () => new Response())
  for (const url of [`http://127.0.0.1:${receiver.address().port}/`, 'https://shop.example/'])
    await simulator.endpoints.create({ url })
  await simulator.checks.push('table-12', check)
  await simulator.deliveries.waitFor({ type: 'check.created', count: 2 })
  await simulator.clock.advance('36h')
  await simulator.close()
}

const told = { before: await left() }
for (let number = 1; number <= Number(process.argv[2]); number++) {
  await use(number)
  if (number === 20) told.twentieth = await left()
}
told.last = await left()
receiver.close()
process.stdout.write(JSON.stringify(told))
