import { createHash } from 'node:crypto'
import type { Check } from '../../src/model/check.ts'
import type { PaymentView } from '../../src/model/guests/records.ts'
import { verify } from '../../src/signature/node.ts'
import { startReceiver, type Handle } from './https-receiver.ts'

interface Envelope {
  id: string
  type: string
  created_at: string
  data: Check | PaymentView
}

/** A booked check. Its names are the receiver's own. */
interface Booked {
  at: string
  state: string
  sum: number
  lines: { ref: string; qty: number; each: number }[]
}

/** Handles an event. */
interface Intake {
  /** The key under which an event is known. */
  keyOf(envelope: Envelope): string
  /** Whether a state replaces the one that is stored. */
  isNewer(at: string, stored: string): boolean
  /** The time of a state: of the envelope unless said otherwise. */
  timeOf?: (data: Check) => string
}

/** Deduplicates by the event's id, and keeps the newest state: by the state's own time, or that of the envelope. */
const byEnvelope: Intake = { keyOf: ({ id }) => id, isNewer: (at, stored) => at > stored }
const right: Intake = { ...byEnvelope, timeOf: ({ updated_at }) => updated_at }

export const intakes = {
  right,
  'ordering by the time of the envelope': byEnvelope,
  'ordering by arrival': { ...right, isNewer: () => true },
  // Of the content: ids and times differ in every body.
  'deduplicating by body': {
    ...right,
    keyOf: ({ id, type, data }) =>
      isState(data, type)
        ? `${type} ${hashOf([data.external_id, data.status, data.items, data.totals])}`
        : id,
  },
  'without deduplication': {
    ...right,
    keyOf: ({ id, type }) => (type.startsWith('payment.') ? `${Math.random()}` : id),
  },
} as const satisfies Record<string, Intake>

export type IntakeName = keyof typeof intakes

function isState(_data: Envelope['data'], type: string): _data is Check {
  return type.startsWith('check.')
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

export const SECRET = `whsec_${'a'.repeat(43)}`

/** A receiver on plain HTTP that shows each check under `/tabs/<external id>`. */
export async function startExploredReceiver(name: IntakeName, { secret = SECRET } = {}) {
  const { keyOf, isNewer, timeOf }: Intake = intakes[name]
  const known = new Set<string>()
  const tabs = new Map<string, Booked>()
  const paid = new Map<string, Map<string, number>>()
  const count = new Map<string, number>()

  function take(envelope: Envelope): void {
    const key = keyOf(envelope)
    if (known.has(key)) return
    known.add(key)
    const { type, data } = envelope
    if (isState(data, type)) {
      const { external_id, status: state, totals, items } = data
      const at = timeOf?.(data) ?? envelope.created_at
      const stored = tabs.get(external_id)
      if (stored !== undefined && !isNewer(at, stored.at)) return
      const lines = items.map(({ external_id: ref, quantity: qty, price_cents: each }) => ({
        ref,
        qty,
        each,
      }))
      tabs.set(external_id, { at, state, sum: totals.total_cents, lines })
    } else if (type === 'payment.succeeded' && 'amount_cents' in data) {
      const payments = paid.get(data.external_check_id) ?? new Map<string, number>()
      paid.set(data.external_check_id, payments.set(data.id, data.amount_cents))
      count.set(data.external_check_id, (count.get(data.external_check_id) ?? 0) + data.amount_cents)
    }
  }

  const handle: Handle = (response, { method, url, headers, body }) => {
    if (method === 'GET') {
      const id = decodeURIComponent(url.replace(/^\/tabs\//, ''))
      const tab = tabs.get(id)
      if (tab === undefined) return void response.writeHead(404).end()
      const { at: _at, ...shown } = tab
      const card = count.get(id) ?? 0
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ tab: id, ...shown, card }))
    }
    const header = headers['x-service-signature']
    if (typeof header !== 'string' || !verify({ payload: body.toString(), header, secret }).ok)
      return void response.writeHead(401).end()
    take(JSON.parse(body.toString()) as Envelope)
    response.writeHead(204).end()
  }
  const receiver = await startReceiver({ answer: handle })
  return { ...receiver, stateUrl: `${receiver.url}tabs/{external_check_id}` }
}
