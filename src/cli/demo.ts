import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client, type PushReport } from '../client.ts'
import type { Check } from '../model/check.ts'
import { type Envelope, eventTypes } from '../model/event.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../model/guests/records.ts'

const EXTERNAL_ID = 'demo-table-12'

/**
 * Runs a check from registration to the last verified delivery, with eight types of events. Yields each step as it
 * happens.
 */
export async function* playDemo(client: Client, receiver: DemoReceiver): AsyncGenerator<DemoStep, void> {
  const { register, push, pushInVain, guest, compare } = createActions(client, receiver, EXTERNAL_ID)
  const { guests } = client
  yield* register()
  yield* push('a new check', checkOf(1, 'open', [burger, fries]), 1)
  yield* push('the same push again', checkOf(1, 'open', [burger, fries]), 0)
  yield* push('dessert is added', checkOf(3, 'open', [burger, fries, tart]), 1)
  yield* push('an older push arrives late', checkOf(2, 'open', [burger]), 0)

  const items = [
    { external_id: burger.external_id, quantity: 1 },
    { external_id: fries.external_id, quantity: 1 },
  ]
  const claimed = guests.claim(EXTERNAL_ID, { guest_name: 'Anna', items })
  const claim = yield* guest('Anna claims a burger and the fries', claimed, 1)
  yield* pushInVain('the fries are removed, but Anna has claimed them', checkOf(4, 'open', [burger, tart]))

  const own = { guest_name: 'Anna', claim_ids: [claim.id], tip_cents: 300 }
  yield* guest('Anna pays her claim and a tip', guests.pay(EXTERNAL_ID, own), 1)
  const paid = guests.pay(EXTERNAL_ID, { guest_name: 'Ben' })
  const rest = yield* guest('Ben pays the rest', paid, 2)
  yield* push('the check is closed', checkOf(5, 'closed', [burger, fries, tart]), 1)
  yield* compare()

  const back = guests.refund(rest.id, { amount_cents: tart.price_cents })
  yield* guest('one tart was not served: Ben gets a refund', back, 1)
  const rated = guests.rate(EXTERNAL_ID, { guest_name: 'Anna', rating: 5, comment: 'Lovely tart' })
  yield* guest('Anna rates the meal', rated, 1)
}

/** Items of the demo's check, as a POS pushes them. */
const burger = {
  external_id: 'line-1',
  name: 'Copper Burger',
  quantity: 2,
  price_cents: 1450,
  note: 'one without onions',
}
const fries = {
  external_id: 'line-2',
  name: 'Hand-cut Fries',
  quantity: 1,
  price_cents: 525,
  note: null,
}
const tart = { external_id: 'line-3', name: 'Plum Tart', quantity: 2, price_cents: 780, note: null }

/** Returns the full state of the check with these items and their totals. */
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

/** One step of the demo. */
export type DemoStep =
  | { type: 'registered'; endpoint_id: string; url: string }
  | { type: 'pushed'; what: string; check: Check; report: PushReport | null; status: number }
  | { type: 'refused'; what: string; status: number; code: string; message: string }
  | { type: 'guest'; what: string; resource: ClaimView | PaymentView | FeedbackView; check: Check }
  | {
      type: 'delivered'
      event_type: string
      event_id: string
      over_tls: boolean
      verified: boolean
      bytes: number
    }
  | { type: 'compared'; what: string; equal: boolean }

export type DemoReceiver = Awaited<ReturnType<typeof startReceiver>>

type DemoSteps<T = void> = AsyncGenerator<DemoStep, T>

/** Actions on one check. Each yields its step and the deliveries that it causes. */
function createActions(client: Client, receiver: DemoReceiver, externalId: string) {
  let last: Envelope | undefined

  /** Yields the deliveries in the order of their events: those of one action are sent in parallel. */
  async function* delivered(number: number): DemoSteps {
    const received = []
    while (received.length < number) received.push(await receiver.next())
    const idOf = ({ body }: { body: string }) => (JSON.parse(body) as Envelope).id
    for (const one of received.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))) {
      last = JSON.parse(one.body) as Envelope
      yield {
        type: 'delivered',
        event_type: last.type,
        event_id: last.id,
        over_tls: one.encrypted,
        verified: one.verified,
        bytes: Buffer.byteLength(one.body),
      }
    }
  }

  return {
    async *register(): DemoSteps {
      const endpoint = await client.endpoints.create({ url: receiver.url, event_types: [...eventTypes] })
      receiver.expect(endpoint.signing_secret)
      yield { type: 'registered', endpoint_id: endpoint.id, url: endpoint.url }
      // The call answers when the ping is delivered.
      await client.endpoints.ping(endpoint.id)
      yield* delivered(1)
    },
    async *push(what: string, body: object, events: number): DemoSteps {
      const { status, requestId, check } = await client.checks.push(externalId, JSON.stringify(body))
      const report = requestId === null ? null : (await client.requests.get(requestId)).push
      yield { type: 'pushed', what, check, report, status }
      yield* delivered(events)
    },
    /**
     * Pushes a body that the service must refuse.
     * @throws Error when it does not.
     */
    async *pushInVain(what: string, body: object): DemoSteps {
      const error = await client.checks
        .push(externalId, JSON.stringify(body))
        .catch((thrown: unknown) => thrown)
      if (error instanceof ApiError)
        yield { type: 'refused', what, status: error.status, code: error.code, message: error.message }
      else if (error instanceof Error) throw error
      else throw new Error(`The service accepted a push that it should refuse: ${what}.`)
    },
    async *guest<T extends Extract<DemoStep, { type: 'guest' }>['resource']>(
      what: string,
      action: Promise<T>,
      events: number,
    ): DemoSteps<T> {
      const resource = await action
      yield { type: 'guest', what, resource, check: await client.checks.get(externalId) }
      yield* delivered(events)
      return resource
    },
    async *compare(): DemoSteps {
      const equal = isDeepStrictEqual(last?.data, await client.checks.get(externalId))
      yield { type: 'compared', what: 'the data of the last event and the check from the API', equal }
    },
  }
}

/** One received request, and whether its signature is valid. */
interface Received {
  verified: boolean
  /** The raw body. */
  body: string
  encrypted: boolean
}

/** Verifies a signature header against the raw body. */
export type VerifySignature = (body: Buffer, header: string, secret: string) => Promise<boolean>

/** Starts a typical receiver: HTTPS, verifies the raw bytes, answers 204 or 400. */
export async function startReceiver(
  tls: { cert: string; key: string },
  verify: VerifySignature = verifyByWebCrypto,
) {
  const waiting: ((received: Received) => void)[] = []
  const arrived: Received[] = []
  let secret = ''
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const header = String(request.headers['x-service-signature'] ?? '')
      void verify(body, header, secret).then((verified) => {
        response.writeHead(verified ? 204 : 400).end()
        const received = { verified, body: body.toString(), encrypted: 'encrypted' in request.socket }
        const waiter = waiting.shift()
        if (waiter === undefined) arrived.push(received)
        else waiter(received)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}/webhooks`,
    /** Sets the signing secret, once it is known. */
    expect: (signingSecret: string) => void (secret = signingSecret),
    /** Resolves with the next delivery, in order of arrival. */
    next: () =>
      new Promise<Received>((resolve) => {
        const received = arrived.shift()
        if (received === undefined) waiting.push(resolve)
        else resolve(received)
      }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Verifies with Web Crypto, independently of the code that signs: specification section 5, steps 1 to 5. */
export const verifyByWebCrypto: VerifySignature = async (body, header, secret) => {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (t === undefined || v1 === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify'])
  const signed = Buffer.concat([Buffer.from(`${t}.`), body])
  return crypto.subtle.verify('HMAC', key, Buffer.from(v1, 'hex'), signed)
}
