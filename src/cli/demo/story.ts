import { isDeepStrictEqual } from 'node:util'
import type { Client, PushReport } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import type { Envelope } from '../../model/event.ts'
import type { startReceiver } from './receiver.ts'

/** One thing that happened in the demo, in order. */
export type Scene =
  | { type: 'registered'; endpoint_id: string; url: string }
  | { type: 'pushed'; what: string; check: Check; report: PushReport | null; status: number }
  | {
      type: 'delivered'
      event_type: string
      event_id: string
      over_tls: boolean
      verified: boolean
      bytes: number
    }
  | { type: 'compared'; what: string; equal: boolean }

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const EXTERNAL_ID = 'demo-table-12'

const burger = {
  external_id: 'line-1',
  name: 'Copper Burger',
  quantity: 2,
  price_cents: 1450,
  note: 'one without onions',
}
const fries = { external_id: 'line-2', name: 'Hand-cut Fries', quantity: 1, price_cents: 525, note: null }
const tart = { external_id: 'line-3', name: 'Plum Tart', quantity: 2, price_cents: 780, note: null }

/** The pushes of one meal, with the number of events that each brings about. */
const meal = [
  { what: 'a new check', body: checkOf(1, 'open', [burger, fries]), events: 1 },
  { what: 'the same push again', body: checkOf(1, 'open', [burger, fries]), events: 0 },
  { what: 'dessert is added', body: checkOf(3, 'open', [burger, fries, tart]), events: 1 },
  { what: 'an older push arrives late', body: checkOf(2, 'open', [burger]), events: 0 },
  { what: 'the check is closed', body: checkOf(4, 'closed', [burger, fries, tart]), events: 1 },
]

/** Plays the main job from registration to the last verified delivery, and yields each scene as it happens. */
export async function* playStory(client: Client, receiver: Receiver): AsyncGenerator<Scene> {
  const endpoint = await client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created', 'check.updated', 'check.closed'],
  })
  receiver.expect(endpoint.signing_secret)
  yield { type: 'registered', endpoint_id: endpoint.id, url: endpoint.url }
  const [ping] = await Promise.all([receiver.next(), client.endpoints.ping(endpoint.id)])
  yield deliveryScene(ping)
  let last: Envelope | undefined
  for (const { what, body, events } of meal) {
    const { status, requestId, check } = await client.checks.push(EXTERNAL_ID, JSON.stringify(body))
    const report = requestId === null ? null : (await client.requests.get(requestId)).push
    yield { type: 'pushed', what, check, report, status }
    for (let arrived = 0; arrived < events; arrived++) {
      const received = await receiver.next()
      last = JSON.parse(received.body) as Envelope
      yield deliveryScene(received)
    }
  }
  const equal = isDeepStrictEqual(last?.data, await client.checks.get(EXTERNAL_ID))
  yield { type: 'compared', what: "the last event's data and GET of the check", equal }
}

function deliveryScene({ body, verified, encrypted }: Awaited<ReturnType<Receiver['next']>>): Scene {
  const { id, type } = JSON.parse(body) as Envelope
  const bytes = Buffer.byteLength(body)
  return { type: 'delivered', event_type: type, event_id: id, over_tls: encrypted, verified, bytes }
}

function checkOf(
  revision: number,
  status: 'open' | 'closed',
  items: readonly (typeof burger | typeof fries)[],
) {
  const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
  const tax_cents = Math.round(subtotal_cents * 0.0875)
  const totals = { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents }
  return { revision, table: { number: '12' }, status, items, totals }
}
