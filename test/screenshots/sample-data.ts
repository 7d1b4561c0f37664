import type { Client } from '../../src/client.ts'
import type { Push } from '../../src/model/check.ts'
import { eventTypes } from '../../src/model/event.ts'
import { startReceiver, type Handle, type Receiver } from '../support/https-receiver.ts'

const dishes = [
  ['Copper Burger', 1450],
  ['Plum Tart', 780],
  ['Hand-cut Chips', 450],
  ['House Lemonade', 390],
  ['Seared Bream', 1890],
  ['Green Salad', 620],
] as const

/** Returns a push; the number and the revision determine its items. */
function pushOf(number: number, revision: number, changes: Partial<Push> = {}): Push {
  const items = dishes.slice(0, 2 + ((number + revision) % 4)).map(([name, price_cents], index) => ({
    external_id: `line-${index + 1}`,
    name,
    quantity: 1 + ((number + index) % 3),
    price_cents,
    note: index === 1 ? 'with cream' : null,
  }))
  const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
  const tax_cents = Math.round(subtotal_cents * 0.0875)
  const totals = { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents }
  return { table: { number: String(1 + (number % 24)) }, status: 'open', items, totals, revision, ...changes }
}

const slow: Handle = (response, _received, index) => {
  setTimeout(() => response.writeHead(204).end(), 8 + ((index * 37) % 60))
}

/** Answers 503 twice, then 200. */
const failing: Handle = (response, _received, index) => {
  if (index % 3 === 2) return void response.writeHead(200).end()
  response.writeHead(503, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: 'upstream_unavailable', retry: true, pod: 'orders-7d9c' }))
}

/** Fills a service with 34 minutes of pushes and guests, with a working, a failing and an unreachable receiver. */
export async function createSampleData(client: Client, idle: () => Promise<void>): Promise<Receiver[]> {
  const receivers = [await startReceiver({ answer: slow }), await startReceiver({ answer: failing })]
  const [working, broken] = receivers.map(({ url }) => url)
  await client.endpoints.create({ url: `${working}webhooks`, event_types: [...eventTypes] })
  await client.endpoints.create({
    url: `${broken}loyalty`,
    event_types: ['check.closed', 'check.fully_paid'],
  })
  await client.endpoints.create({ url: 'http://127.0.0.1:9/legacy', event_types: ['feedback.received'] })
  for (let minute = 0; minute < 34; minute++) {
    for (let number = minute; number < minute + 3 + (minute % 3); number++)
      await pushNumber(client, number, minute)
    await playGuest(client, minute)
    await idle()
    await client.clock.advance(`${20 + ((minute * 17) % 40)}s`)
  }
  return receivers
}

async function pushNumber(client: Client, number: number, minute: number): Promise<void> {
  const isLast = number % 5 === minute % 5 && minute > 4
  const push = pushOf(number, minute - number + 40, isLast ? { status: 'closed' } : {})
  if (number % 11 === 3) push.totals.total_cents += 100
  await client.checks
    .push(`table-${1 + (number % 24)}-${1000 + number}`, JSON.stringify(push))
    .catch(() => undefined)
}

const guests = ['Mia', 'Jonas', 'Priya', 'Leo']

async function playGuest(client: Client, minute: number): Promise<void> {
  const [check] = (await client.checks.list({ status: 'open', limit: 1 })).data
  if (check === undefined) return
  const guest_name = guests[minute % guests.length] ?? null
  const items = [{ external_id: 'line-1', quantity: 1 }]
  await client.guests.claim(check.external_id, { guest_name, items }).catch(() => undefined)
  if (minute % 2 === 0)
    await client.guests.pay(check.external_id, { guest_name, tip_cents: 200 }).catch(() => undefined)
  if (minute % 6 === 0)
    await client.guests.rate(check.external_id, { guest_name, rating: 5 }).catch(() => undefined)
}
