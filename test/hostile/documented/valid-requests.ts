import type { State } from '../../../src/model/simulator/state.ts'
import { check, deadUrl, openReceiver } from '../../support/simulator.ts'
import type { Documented } from './operations.ts'
import type { Asked, Service } from './service.ts'

const json = { 'content-type': 'application/json' }

/** Valid bodies by operation. */
const bodies: Readonly<Record<string, (service: Service) => unknown>> = {
  pushCheck: () => check(),
  pushInspectorCheck: () => check(),
  registerWebhookEndpoint: () => ({ url: deadUrl, event_types: ['check.closed'] }),
  registerWebhookEndpointWithSecret: () => ({ url: deadUrl, event_types: ['check.closed'] }),
  resendDelivery: () => ({ fresh: true }),
  moveClock: () => ({ advance: '1s' }),
  setFaults: () => ({ faults: [] }),
  loadState: ({ client }) => client.state.get(),
  claimItems: () => ({ items: [{ external_id: 'burger', quantity: 0.001 }] }),
  payCheck: () => ({ amount_cents: 1 }),
  refundPayment: () => ({ amount_cents: 1 }),
  leaveFeedback: () => ({ rating: 5, comment: null }),
  createKey: () => ({ scopes: ['read'] }),
  claimAtTable: () => ({ external_check_id: 'a', items: [{ external_id: 'burger', quantity: 0.001 }] }),
  payAtTable: () => ({ external_check_id: 'a', amount_cents: 1 }),
  leaveFeedbackAtTable: () => ({ external_check_id: 'a', rating: 5 }),
  createSession: async ({ client }) => ({
    code: new URL((await client.inspector.link()).url).hash.slice('#link='.length),
  }),
}

let pushes = 0

/** A request that is answered with success. */
export async function validRequest({ id, path, body }: Documented, service: Service): Promise<Asked> {
  if (id === 'answerOfferedAttempt') return answerOffered(service)
  if (path.startsWith(TABLE)) return requestAtTable({ id, path, body }, service)
  const kind = /([\w-]+)\/\{id\}/.exec(path)?.[1] as keyof Service['make'] | undefined
  const check = id === 'pushCheck' || id === 'pushInspectorCheck' ? `new-${pushes++}` : 'a'
  const value = kind === undefined ? (path.includes('{number}') ? '12' : check) : await service.make[kind]()
  // Sessions begin and end on the service's own page.
  const headers = {
    ...(body !== undefined && json),
    ...(path === '/_sim/session' && { 'sec-fetch-site': 'same-origin' }),
  }
  const asked = { path: withParameter(path, value), key: service.apiKey, headers }
  return body === undefined ? asked : { ...asked, body: JSON.stringify(await bodies[id]?.(service)) }
}

/** Answers a new attempt to a listener, as `tabwire listen` does. */
async function answerOffered({ client, apiKey }: Service): Promise<Asked> {
  const listener = `valid-${pushes++}`
  const url = `https://${listener}.listen.invalid/`
  const { id: endpoint } = await client.endpoints.create({ url, event_types: ['check.created'] })
  await client.checks.push(listener, check())
  for await (const message of client.stream({ listener }))
    if (message.type === 'offer') {
      const { offer, delivery_id, attempt } = message.data
      const path = `/_sim/deliveries/${delivery_id}/attempts/${attempt}/response`
      const body = JSON.stringify({ offer, duration_ms: 1, status: 204, headers: [], body: '' })
      return { path, key: apiKey, headers: json, body }
    }
  throw new Error(`The endpoint ${endpoint} got no offer.`)
}

const TABLE = '/t/{number}/{token}'

async function requestAtTable(
  { id, path, body }: Pick<Documented, 'id' | 'path' | 'body'>,
  service: Service,
) {
  const claim = path.includes('{id}') ? await claimAtTable(service) : ''
  const headers = { 'x-guest-id': service.table.guest, ...(body !== undefined && json) }
  const asked = { path: atTable(path, service, claim), key: null, headers }
  return body === undefined ? asked : { ...asked, body: JSON.stringify(await bodies[id]?.(service)) }
}

function atTable(path: string, { table }: Service, claim = ''): string {
  return path.replace(TABLE, table.path).replace('{id}', claim)
}

async function claimAtTable({ table }: Service): Promise<string> {
  const claim = { external_check_id: 'a', items: [{ external_id: 'burger', quantity: 1 }] }
  return ((await table.post(table.guest, '/claims', claim)).json as { id: string }).id
}

export function withParameter(path: string, value: string): string {
  return path.replace(/\{\w+\}/, () => value)
}

async function replaceDuringMove({ client }: Service, state: State): Promise<void> {
  while ((await client.clock.show()).moving === null);
  await client.state.put(state)
}

/** Requests that cause each documented conflict. */
export async function conflictOf({ id, path }: Documented, service: Service) {
  const { client, make, idle } = service
  const onCheck = path.replace('{external_check_id}', 'a')
  const burgers = { items: [{ external_id: 'burger', quantity: 5_000 }] }
  switch (id) {
    case 'pushCheck':
    case 'pushInspectorCheck':
      await make.claims()
      return { path: onCheck, body: check({ items: [] }) }
    case 'claimItems':
      return { path: onCheck, body: burgers }
    case 'payCheck':
      return { path: onCheck, body: { amount_cents: 100_000_000 } }
    case 'refundPayment':
      return { path: path.replace('{id}', await make.payments()), body: { amount_cents: 3 } }
    case 'releaseClaim': {
      const claim = await make.claims()
      await client.guests.pay('a', { claim_ids: [claim] })
      return { path: path.replace('{id}', claim), body: undefined }
    }
    case 'answerOfferedAttempt':
      return {
        path: path.replace('{id}', await make.deliveries()).replace('{number}', '1'),
        body: { offer: 'off_of_another_attempt', duration_ms: 1, status: 500, headers: [], body: '' },
      }
    case 'claimAtTable':
      return { path: atTable(path, service), body: { external_check_id: 'a', ...burgers } }
    case 'payAtTable':
      return { path: atTable(path, service), body: { external_check_id: 'a', amount_cents: 100_000_000 } }
    case 'releaseClaimAtTable': {
      const claim = await claimAtTable(service)
      await client.guests.pay('a', { claim_ids: [claim] })
      return { path: atTable(path, service, claim), body: undefined }
    }
    case 'pingWebhookEndpoint':
    case 'pingInspectorEndpoint':
    case 'resendDelivery': {
      const { id: endpoint } = await client.endpoints.create({
        url: deadUrl,
        event_types: ['feedback.received'],
      })
      await client.guests.rate('a', { rating: 1 })
      await idle()
      const { data } = await client.deliveries.list({ endpoint_id: endpoint })
      const one = id === 'resendDelivery' ? (data[0]?.id ?? '') : endpoint
      return { path: path.replace('{id}', one), body: id === 'resendDelivery' ? {} : undefined }
    }
    case 'moveClock': {
      const state = await client.state.get()
      const receiver = await openReceiver('hang')
      await client.endpoints.create({ url: receiver.url, event_types: ['feedback.received'] })
      await client.guests.rate('a', { rating: 1 })
      await receiver.received(1)
      void replaceDuringMove(service, state)
      return { path, body: { advance: '1m' } }
    }
    default:
      throw new Error(`There is no conflict for ${id}.`)
  }
}
