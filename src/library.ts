import { lineWithNext, MOST_SHOWN } from './assertions/delivered-verdict.ts'
import { waitForDelivered } from './assertions/delivered.ts'
import { type Client, createClient, TimedOut } from './client.ts'
// Loaded with the library rather than with the first simulator, which would have to wait for it.
import './http/listen.ts'
import type { Fetch } from './http/in-process.ts'
import { requireKnownOptions, requireOptions, shown } from './model/simulator/settings.ts'
import { baseUrlOf, isAtOrBelow } from './model/url.ts'
import { type SimulatorOptions, startSimulator, type StartedSimulator } from './simulator.ts'

/**
 * A service in this process, with every call of {@link Client}. The names are those of the commands. Calls resolve with the
 * response of the API, and reject with ApiError when the API refuses.
 */
export interface Simulator
  extends
    Client,
    Pick<StartedSimulator, 'url' | 'baseUrl' | 'apiKey' | 'ca' | 'fetch' | 'idle' | 'close'>,
    AsyncDisposable {
  /**
   * Delivers to a URL, and to every URL below it, in this process. Returns a function that ends this.
   * @default receiver responds with 204 to every request
   * @throws TypeError unless the URL is absolute and the receiver is a function.
   * @example
   * simulator.receive('https://shop.example/webhooks', (request) => app.fetch(request))
   */
  receive(url: string, receiver?: (request: Request) => Response | Promise<Response>): () => void
  /**
   * Returns the deliveries to receivers of `receive` at a URL and below it, oldest first. Only the latest 1,000 of all URLs
   * are kept. `reset` removes them.
   * @throws TypeError when no receiver has handled this URL since the start.
   * @example
   * simulator.receive('https://shop.example/webhooks')
   * await simulator.idle()
   * for (const request of simulator.received('https://shop.example/webhooks'))
   *   await expect(request).toBeSignedBy(signing_secret)
   */
  received(url: string): ReceivedRequest[]
}

/**
 * Starts a service in this process. Any number of them run side by side. Data is in memory unless `dataDir` names a
 * directory. The port is free unless `port` names one. With `port: false` there is no port, and `fetch` reaches the service.
 * @default options is {}
 * @throws TypeError for unknown, wrong or contradicting options, and Error in a simulated browser such as happy-dom.
 * @example
 * await using simulator = await createSimulator({ allowHttpLoopback: true })
 * const { signing_secret } = await simulator.endpoints.create({ url: 'http://127.0.0.1:3000/webhooks' })
 * await simulator.checks.push('table-12', check)
 * await simulator.deliveries.waitFor({ type: 'check.created' })
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  requireOptions(options)
  const { port = 0, ref = false, ...others } = options
  const service = await startSimulator({ port, ref, ...others })
  const { url, baseUrl, apiKey, ca, fetch, thrownBy, idle } = service
  let closing: Promise<void> | undefined
  const close: StartedSimulator['close'] = (how) => {
    if (how !== undefined) requireKnownOptions(how, ['drain'])
    return (closing ??= service.close(how))
  }
  const fetchWhileOpen: Fetch = async (...request) => {
    const response = await fetch(...request)
    // The API says when to retry, which is of no use to this program.
    return closing !== undefined && response.status === 503 ? closedDuringCall(response) : response
  }
  const client = createClient({ url, apiKey, fetch: fetchWhileOpen })
  const { receive, received, clear } = createReceived(service.receive)
  const reset: Client['reset'] = async (limits) => {
    const report = await client.reset(limits)
    clear()
    return report
  }
  const idleOrExplain: StartedSimulator['idle'] = async (limits) => {
    try {
      await idle(limits)
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error
      const { data } = await client.deliveries.list({ status: 'pending', limit: MOST_SHOWN })
      const message = `Deliveries were still due or in flight after ${(limits?.timeout ?? 0) / 1_000} s.`
      throw new TimedOut([message, ...data.toReversed().map(lineWithNext)].join('\n'), { cause: error })
    }
  }
  return {
    ...client,
    ...{ url, baseUrl, apiKey, ca, fetch, receive, received, idle: idleOrExplain, close },
    deliveries: {
      ...client.deliveries,
      waitFor: (wanted) => waitForDelivered(client, wanted, thrownBy),
    },
    state: { ...client.state, reset },
    reset,
    [Symbol.asyncDispose]: () => close(),
  }
}

function closedDuringCall({ status, headers }: Response): Response {
  const message =
    'The simulator was closed during this call. Await every call and matcher before the test ends.'
  const id = { 'x-request-id': headers.get('x-request-id') ?? '' }
  return Response.json({ error: { code: 'shutting_down', message } }, { status, headers: id })
}

/** A delivery to a receiver in this process. */
export interface ReceivedRequest {
  /** The URL that it was sent to. */
  url: string
  headers: Headers
  /** The raw body: these bytes are signed. */
  body: string
  /** The status of the receiver's answer; `undefined` while there is none, or when the receiver threw. */
  status: number | undefined
}

/** Most requests that are kept; the oldest are dropped. */
const MOST_KEPT = 1_000

type Receiver = (request: Request) => Response | Promise<Response>

/** Stores deliveries to receivers in this process. */
function createReceived(receive: StartedSimulator['receive']) {
  const bases = new Set<string>()
  const requests: ReceivedRequest[] = []

  async function note(request: Request): Promise<ReceivedRequest> {
    const { url, headers } = request
    const body = await request.clone().text()
    const received = { url, headers: new Headers(headers), body, status: undefined }
    if (requests.push(received) > MOST_KEPT) requests.shift()
    return received
  }

  return {
    receive(url: string, receiver: Receiver = noContent): () => void {
      if (typeof receiver !== 'function')
        throw new TypeError(`receive() expects a function that returns a Response, got ${shown(receiver)}.`)
      const remove = receive(url, async (request) => {
        const received = await note(request)
        const response = await receiver(request)
        requireResponse(response)
        // `Response.error()` has the status 0, and counts as thrown.
        if (response.type !== 'error') received.status = response.status
        return response
      })
      bases.add(baseUrlOf(url))
      return remove
    },
    received(url: string): ReceivedRequest[] {
      const base = baseUrlOf(url)
      if (![...bases].some((one) => isAtOrBelow(base, one) || isAtOrBelow(one, base)))
        throw new TypeError(
          `No receiver in this process handles ${base}. Register one with simulator.receive(${JSON.stringify(url)}).`,
        )
      return requests.filter((request) => isAtOrBelow(baseUrlOf(request.url), base))
    },
    /** Forgets what was received; receivers stay. */
    clear(): void {
      requests.length = 0
    },
  }
}

/** @throws TypeError unless the value has a status and headers. A response of another library is not this runtime's `Response`. */
function requireResponse(given: unknown): void {
  const { status, headers } = (given ?? {}) as { status?: unknown; headers?: { get?: unknown } | null }
  if (typeof status === 'number' && typeof headers?.get === 'function') return
  throw new TypeError(`the function of receive() must return a Response, got ${shown(given)}`)
}

function noContent(): Response {
  return new Response(null, { status: 204 })
}
