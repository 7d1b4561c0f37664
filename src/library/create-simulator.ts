import { createClient, type Client } from '../client.ts'
// Loaded with the library rather than with the first simulator, which would have to wait for it.
import '../http/listen.ts'
import { startSimulator, type Simulator as Service, type SimulatorOptions } from '../simulator.ts'
import { waitForDelivered } from '../assertions/delivered.ts'
import { createReceived, type ReceivedRequest } from './received.ts'

export type { ReceivedRequest } from './received.ts'

/**
 * A whole service in this process, with every call of {@link Client}: the names are those of the commands, calls resolve with
 * what the API answers and reject with ApiError where the API refuses.
 */
export interface Simulator
  extends
    Client,
    Pick<Service, 'url' | 'baseUrl' | 'apiKey' | 'ca' | 'fetch' | 'idle' | 'close'>,
    AsyncDisposable {
  /**
   * Has deliveries to a URL, and to all beneath it, handed over in this process. The result takes that back.
   * @default receiver answers 204 to everything
   * @throws TypeError unless the URL is absolute.
   * @example
   * simulator.receive('https://shop.example/webhooks', (request) => app.fetch(request))
   */
  receive(url: string, receiver?: (request: Request) => Response | Promise<Response>): () => void
  /**
   * Returns the deliveries that receivers of `receive` were handed at a URL and beneath it, oldest first: the latest
   * 1,000 of all. `reset` forgets them.
   * @throws TypeError when nothing is received at this URL.
   * @example
   * simulator.receive('https://shop.example/webhooks')
   * await simulator.idle()
   * for (const request of simulator.received('https://shop.example/webhooks'))
   *   await expect(request).toBeSignedBy(signing_secret)
   */
  received(url: string): ReceivedRequest[]
}

/**
 * Starts a service in this process, in memory unless `dataDir` names a directory, on a free port unless `port` names one; with
 * `port: false` on none, and `fetch` reaches it all the same. Any number of them run side by side.
 * @default options is {}
 * @throws TypeError for unknown, wrong or contradicting options.
 * @example
 * await using simulator = await createSimulator({ allowHttpLoopback: true })
 * const { signing_secret } = await simulator.endpoints.create({ url: 'http://127.0.0.1:3000/webhooks' })
 * await simulator.checks.push('table-12', check)
 * await simulator.deliveries.waitFor({ type: 'check.created' })
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const service = await startSimulator({ port: 0, onError: warn, ref: false, ...options })
  const { url, baseUrl, apiKey, ca, fetch, thrownBy, idle } = service
  const client = createClient({ url, apiKey, fetch })
  const { receive, received, clear } = createReceived(service.receive)
  let closing: Promise<void> | undefined
  const close = () => (closing ??= service.close())
  const reset: Client['reset'] = async (limits) => {
    const report = await client.reset(limits)
    clear()
    return report
  }
  return {
    ...client,
    ...{ url, baseUrl, apiKey, ca, fetch, receive, received, idle, close },
    deliveries: {
      ...client.deliveries,
      waitFor: (wanted) => waitForDelivered(client, wanted, thrownBy),
    },
    state: { ...client.state, reset },
    reset,
    [Symbol.asyncDispose]: close,
  }
}

/** A bug of ours must not pass unseen. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
