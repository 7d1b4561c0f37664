import { timers } from '../timers.ts'

/** The app, as far as it is needed here: the published types of the library must not name all of it. */
interface Answering {
  fetch(request: Request): Promise<Response>
}

/** The service without a port. */
interface InProcessServer {
  /** Rejects with a TypeError for a broken connection, like `fetch`, and after the server is closed. */
  fetch: Fetch
  /** Refuses new requests and waits up to `graceMs` for requests in flight. */
  close(graceMs: number): Promise<void>
}

/** URL of a service without a port. Port 0 cannot be connected to, so calls to it by the global `fetch` fail at once. */
export const NO_PORT_URL = 'http://tabwire.localhost:0'

/** Serves requests within this process; `url` is the base URL of the service. */
export function openInProcessServer(app: Answering, url: string): InProcessServer {
  const inFlight = new Set<Promise<unknown>>()
  let closed = false
  return {
    async fetch(input, init) {
      if (closed) throw new TypeError('fetch failed', { cause: new Error('the simulator is closed') })
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      signal?.throwIfAborted()
      const answering = fetchFromApp(requestTo(url, input, init), app)
      const settled = answering.catch(() => {}).finally(() => inFlight.delete(settled))
      inFlight.add(settled)
      return signal === undefined ? answering : until(signal, answering)
    },
    async close(graceMs) {
      closed = true
      let timer: NodeJS.Timeout | undefined
      const grace = new Promise((resolve) => (timer = timers.setTimeout(resolve, graceMs)))
      await Promise.race([Promise.all(inFlight), grace])
      timers.clearTimeout(timer)
    },
  }
}

function requestTo(url: string, input: string | URL | Request, init: RequestInit | undefined): Request {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input, url)
  const target = url + pathname + search
  const given =
    input instanceof Request ? new Request(new Request(target, input), init) : new Request(target, init)
  // Like an HTTP/1.1 client. The host check needs it.
  given.headers.set('host', new URL(url).host)
  return given
}

/** Converts the server's own response class, which is fast to send, to a complete `Response`. */
async function fetchFromApp(request: Request, app: Answering): Promise<Response> {
  const { body, status, headers } = await app.fetch(request).catch((cause: unknown) => {
    throw new TypeError('fetch failed', { cause })
  })
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

/** Lets a signal abort the wait for a response and the reading of its body. */
async function until(signal: AbortSignal, answering: Promise<Response>): Promise<Response> {
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    const { body, status, headers } = await Promise.race([answering, aborted])
    return new Response(body?.pipeThrough(new TransformStream(), { signal }), { status, headers })
  } catch (error) {
    // A stream that is answered after the abort has no reader.
    void answering.then(
      ({ body }) => body?.cancel(),
      () => undefined,
    )
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Like the global `fetch`, but sends each request to this service, for any origin. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
