import { createDeliver } from '../../src/delivery/deliver.ts'
import { createDestinationPolicy, type DestinationSettings } from '../../src/delivery/destination/policy.ts'
import { createPump, type PumpLimits } from '../../src/delivery/pump.ts'
import { createOffers } from '../../src/delivery/send/offers.ts'
import { createSender } from '../../src/delivery/send/send.ts'
import type { Slots } from '../../src/delivery/slots.ts'
import { createNewId, newSecret } from '../../src/ids.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { EventType } from '../../src/model/event.ts'
import { remove } from '../../src/model/records.ts'
import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'
import { deleteEndpoint, pingEndpoint, registerEndpoint } from '../../src/operations/endpoints.ts'
import type { NoReads, Operation } from '../../src/operations/operation.ts'
import { createService, type Service } from '../../src/service.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { startReceiver, type Answer, type Receiver } from '../support/https-receiver.ts'
import { testAuthority } from '../support/simulator.ts'

/** The location of all that a test does. */
const location_id = 'loc_1'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** An HTTPS receiver on 127.0.0.1 whose certificate the test's sender trusts. */
export async function trustedReceiver(answer: Answer = 200): Promise<Receiver> {
  const tls = await (await testAuthority()).issue(['127.0.0.1', 'localhost'])
  return startReceiver({ tls, answer })
}

/** An operation that announces something, as a push or a payment does. */
const announce = {
  reads: () => ({}),
  decide: (_records, { type, note }) => ({
    reply: undefined,
    writes: [],
    events: [{ type, location_id, json: JSON.stringify({ note }), external_check_id: 'check-1' }],
  }),
} satisfies Operation<{ type: EventType; note: string }, NoReads, undefined>

interface SetupOptions {
  timeoutMs?: number
  bodyTimeoutMs?: number
  disableAfter?: number
  limits?: Partial<PumpLimits>
  policy?: Partial<DestinationSettings>
  slots?: Slots
  /** Wraps the service of the pump, to make it fail. */
  wrap?: (service: Service) => Service
}

export type Setup = Awaited<ReturnType<typeof openSetup>>

/** Opens a service with a sender and a pump, wired as in the simulator, with a manual clock. */
export async function openSetup(options: SetupOptions = {}) {
  const { certificatePem } = await testAuthority()
  const clock = createManualClock()
  const store: Store = createMemoryStore()
  const service = createService({ store, clock, newId: createNewId(() => clock.now()), newSecret })
  const used = options.wrap?.(service) ?? service
  const policy = createDestinationPolicy({
    allowHttpLoopback: true,
    denyPrivate: false,
    own: {},
    resolve: async () => ['127.0.0.1'],
    ...options.policy,
  })
  const { timeoutMs, bodyTimeoutMs } = options
  const sender = createSender({
    policy,
    trust: { ca: [certificatePem], insecure: false },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(bodyTimeoutMs !== undefined && { bodyTimeoutMs }),
  })
  const realTimes: Date[] = []
  const realNow = () => {
    // A second later each time, so that two attempts never carry the same timestamp.
    const time = new Date(Date.parse('2030-01-01T00:00:00.900Z') + realTimes.length * 1000)
    realTimes.push(time)
    return time
  }
  const { disableAfter = 10 } = options
  const deliver = createDeliver({
    service: used,
    sender,
    offers: createOffers({ service: used, ...(timeoutMs !== undefined && { timeoutMs }) }),
    clock,
    signClock: { now: realNow },
    serviceName: 'Acme',
    disableAfter,
  })
  const errors: unknown[] = []
  const startPump = () =>
    createPump({
      requestMs: 11_000,
      service: used,
      deliver,
      clock,
      onError: (error) => errors.push(error),
      ...(options.limits && { limits: options.limits }),
      ...(options.slots && { slots: options.slots }),
    })
  const pump = startPump()

  return {
    clock,
    service,
    sender,
    pump,
    deliver,
    startPump,
    errors,
    realTimes,
    register: (url: string, event_types: EventType[] = ['check.updated']): Promise<WebhookEndpoint> =>
      service.execute(registerEndpoint, { location_id, url, event_types }),
    announce: (note = 'hello', type: EventType = 'check.updated') =>
      service.execute(announce, { type, note }),
    forget: (id: string) => store.transact({}, () => ({ writes: [remove('deliveries', id)] })),
    forgetEvent: (id: string) => store.transact({}, () => ({ writes: [remove('events', id)] })),
    ping: (endpoint_id: string): Promise<Delivery> =>
      service.execute(pingEndpoint, { endpoint_id, location_id }),
    remove: (endpoint_id: string) => service.execute(deleteEndpoint, { endpoint_id, location_id }),
    async deliveries(): Promise<readonly Delivery[]> {
      const { data } = await service.list('deliveries', { limit: 1000 })
      return data.toReversed()
    },
    async delivery(index = 0): Promise<Delivery> {
      const delivery = (await this.deliveries())[index]
      if (delivery === undefined) throw new Error(`There is no delivery ${index}.`)
      return delivery
    },
    async endpoint(id: string): Promise<WebhookEndpoint> {
      const endpoint = await service.get('endpoints', id)
      if (endpoint === undefined) throw new Error(`There is no endpoint ${id}.`)
      return endpoint
    },
    async close(): Promise<void> {
      await pump.stop({ graceMs: 0 })
      await sender.close()
    },
  }
}
