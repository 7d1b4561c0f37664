import { createClient, type CallOptions, type Client } from '../client.ts'
// Loaded with the library rather than with the first simulator, which would have to wait for it.
import '../http/listen.ts'
import type { State, StateReport } from '../model/state.ts'
import { eventTypes, type EventType } from '../model/event.ts'
import { startSimulator, type Simulator as Service, type SimulatorOptions } from '../simulator.ts'
import { waitForDelivered, type DeliveriesWanted, type SomeDeliveries } from './wait.ts'

/**
 * A whole service in this process. What it can be asked has the names of the commands, and resolves with what the API
 * answers; calls reject with ApiError where the API refuses.
 */
export interface Simulator
  extends
    Omit<Client, 'deliveries' | 'endpoints' | 'health' | 'request' | 'state' | 'stream'>,
    Pick<Service, 'url' | 'baseUrl' | 'apiKey' | 'ca' | 'fetch' | 'receive' | 'idle' | 'close'>,
    AsyncDisposable {
  deliveries: Client['deliveries'] & {
    /**
     * Resolves with the deliveries that are wanted, oldest first, as soon as there are as many: at once, when they have
     * come already.
     * @throws NotDelivered when the time is up, with what was seen instead.
     * @example
     * const [delivery] = await simulator.deliveries.waitFor({ type: 'check.fully_paid', check: 'table-12' })
     */
    waitFor(wanted?: DeliveriesWanted): Promise<SomeDeliveries>
  }
  endpoints: Omit<Client['endpoints'], 'create'> & {
    /**
     * Registers a receiver, for all event types unless some are named. The answer holds the signing secret, once.
     * @example
     * const { signing_secret } = await simulator.endpoints.create({ url: 'https://shop.example/webhooks' })
     */
    create(body: { url: string; event_types?: EventType[] }): ReturnType<Client['endpoints']['create']>
  }
  /** All that the service knows: kept as a value, put back, or begun anew. */
  state: {
    save(options?: CallOptions): Promise<State>
    load(state: State, options?: CallOptions): Promise<StateReport>
    reset(options?: CallOptions): Promise<StateReport>
  }
  /** Forgets everything but locations and keys, ends faults, and sets the clock to where it began. */
  reset(options?: CallOptions): Promise<StateReport>
}

/**
 * Starts a service in this process, in memory unless `dataDirectory` says where, on a free port unless `port` names one;
 * with `port: false` on none, and `fetch` reaches it all the same. As many as are wanted run side by side.
 * @throws TypeError for options that contradict each other, and what {@link SimulatorOptions} name.
 * @example
 * await using simulator = await createSimulator({ allowHttpLoopback: true })
 * const { signing_secret } = await simulator.endpoints.create({ url: 'http://127.0.0.1:3000/webhooks' })
 * await simulator.checks.push('table-12', check)
 * await simulator.deliveries.waitFor({ type: 'check.created' })
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const service = await startSimulator({ port: 0, onError: warn, ref: false, ...options })
  const { url, baseUrl, apiKey, ca, fetch, receive, thrownBy, idle } = service
  const client = createClient({ url, apiKey, fetch })
  const {
    deliveries,
    endpoints,
    health: _health,
    request: _request,
    state,
    stream: _stream,
    ...rest
  } = client
  let closing: Promise<void> | undefined
  const close = () => (closing ??= service.close())
  return {
    ...{ ...rest, url, baseUrl, apiKey, ca, fetch, receive, idle, close },
    deliveries: { ...deliveries, waitFor: (wanted) => waitForDelivered(client, wanted, thrownBy) },
    endpoints: {
      ...endpoints,
      create: ({ url, event_types = [...eventTypes] }) => endpoints.create({ url, event_types }),
    },
    state: { save: state.get, load: state.put, reset: state.reset },
    reset: state.reset,
    [Symbol.asyncDispose]: close,
  }
}

/** A bug of ours must not pass unseen. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
