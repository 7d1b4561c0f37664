/* Fixtures, matchers and fake timers under whichever Vitest; it is compiled against its types, too. */
import { simulatorFixtures, simulatorTest, type SimulatorFixtures } from 'tabwire/vitest'
import { expect, test as base, vi } from 'vitest'

const test = simulatorTest({ port: false })
const check = {
  table: { number: '12' },
  status: 'open' as const,
  items: [{ external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 }],
  totals: { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 },
}

test('fixtures and matchers work under fake timers', async ({ simulator, fileSimulator }) => {
  vi.useFakeTimers()
  const received: Request[] = []
  simulator.receive('https://shop.example', (request) => {
    received.push(request)
    return new Response(null, { status: received.length === 1 ? 503 : 204 })
  })
  const { signing_secret } = await simulator.endpoints.create({ url: 'https://shop.example/' })
  await simulator.checks.push('table-12', check)
  await expect(simulator).not.toHaveDelivered('check.created')
  await simulator.clock.advance('1m')
  await expect(simulator).toHaveDelivered('check.created', { check: 'table-12', times: 1 })
  for (const request of received) await expect(request).toBeSignedBy(signing_secret)
  await expect(simulator).toHaveNoFindings()
  await expect(simulator).toConverge()
  await fileSimulator.locations.list()
  vi.useRealTimers()
})

base.extend<SimulatorFixtures>(simulatorFixtures({ port: false }))(
  'a test of its own',
  async ({ simulator }) => {
    await simulator.locations.list()
  },
)
