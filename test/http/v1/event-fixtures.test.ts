import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Push } from '../../../src/model/check.ts'
import { eventTypes } from '../../../src/model/event.ts'
import { fixtures, readJson } from '../../findings/situations.ts'
import { openSimulator } from '../../support/simulator.ts'

const lemonade = '0c9e2b7d-3b64-4e0f-b1a8-71d5c2f48e02'
const burger = '6f1d4c1a-0a7e-4f6b-8a55-2f3c9e7b1d01'
const brownie = 'd83a5f90-96c2-47bb-9d1e-5a0b64c7f203'

test('fixtures/events equal the events of the same calls, except for identifiers and times', async () => {
  const { client } = await openSimulator()
  const id = (dataOf('check.created') as { external_id: string }).external_id
  const push = (type: string) => client.checks.push(id, JSON.stringify(pushOf(dataOf(type) as Push)))
  await push('check.created')
  await push('check.updated')
  const mine = await client.guests.claim(id, {
    guest_name: 'Mia',
    items: [
      { external_id: burger, quantity: 1 },
      { external_id: lemonade, quantity: 1 },
    ],
  })
  await client.guests.claim(id, {
    guest_name: 'Noah',
    items: [
      { external_id: lemonade, quantity: 1 },
      { external_id: brownie, quantity: 1 },
    ],
  })
  const paid = await client.guests.pay(id, { guest_name: 'Mia', claim_ids: [mine.id], tip_cents: 480 })
  await client.guests.pay(id, { guest_name: 'Noah' })
  await push('check.closed')
  const { comment } = dataOf('feedback.received') as { comment: string }
  await client.guests.rate(id, { guest_name: 'Noah', rating: 5, comment })
  await client.guests.refund(paid.id, { amount_cents: 653 })

  const events = (await client.events.list({ limit: 100 })).data.toReversed()
  for (const type of eventTypes) {
    const first = events.find((event) => event.type === type)?.data
    expect(timeless(first)).toBe(timeless(dataOf(type)))
  }
})

function dataOf(type: string): unknown {
  return (readJson(join(fixtures, 'events', `${type}.json`)) as { data: unknown }).data
}

/** The pushed body of this check. */
function pushOf({ table, status, items, totals, revision }: Push) {
  const pushed = items.map(({ external_id, name, quantity, price_cents, note }) => ({
    external_id,
    name,
    quantity,
    price_cents,
    note,
  }))
  return { table, status, items: pushed, totals, revision }
}

/** Replaces identifiers by their prefix and times by a placeholder. */
function timeless(data: unknown): string {
  return JSON.stringify(data)
    .replace(/\b([a-z]{2,3})_[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, '$1')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"')
}
