import { simulatorTest } from 'tabwire/vitest'
import { expect } from 'vitest'
import { handleWebhook } from './shop.ts'

const test = simulatorTest({ port: false })

test('the shop receives a new check', async ({ simulator }) => {
  simulator.receive('https://shop.example/webhooks', handleWebhook)
  await simulator.endpoints.create({ url: 'https://shop.example/webhooks' })
  const totals = { subtotal_cents: 0, tax_cents: 0, total_cents: 0 }
  await simulator.checks.push('table-12', { table: { number: '12' }, status: 'open', items: [], totals })
  await expect(simulator).toHaveDelivered('check.created')
})
