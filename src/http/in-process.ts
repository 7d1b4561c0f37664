import type { App } from './app.ts'
import { timers } from '../timers.ts'

/** The service without a port. */
export interface InProcessServer {
  /** Rejects with a TypeError where a connection would break, as `fetch` does, and once the server is closed. */
  fetch: Fetch
  /** Takes nothing new, and lets requests in flight finish for up to `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Where a service without a port says it is. Nothing can listen at port 0, so a call that goes astray says so at once. */
export const NO_PORT_URL = 'http://tabwire.localhost:0'

/** Serves requests within this process; `url` is the service's name for itself. */
export function openInProcessServer(app: App, url: string): InProcessServer {
  const inFlight = new Set<Promise<unknown>>()
  let closed = false
  return {
    async fetch(input, init) {
      if (closed) throw new TypeError('fetch failed', { cause: new Error('the simulator is closed') })
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      signal?.throwIfAborted()
      const answering = answerTo(requestTo(url, input, init), app)
      const settled = answering.catch(() => undefined).finally(() => inFlight.delete(settled))
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
  // As a client of HTTP/1.1 would; keeping strangers out goes by it.
  given.headers.set('host', new URL(url).host)
  return given
}

/** The server's response object is quick to send and not all that `fetch` resolves with, so it becomes one that is. */
async function answerTo(request: Request, app: App): Promise<Response> {
  const { body, status, headers } = await app.fetch(request).catch((cause: unknown) => {
    throw new TypeError('fetch failed', { cause })
  })
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

/** A signal ends the waiting for an answer, and a body that goes on. */
async function until(signal: AbortSignal, answering: Promise<Response>): Promise<Response> {
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    const { body, status, headers } = await Promise.race([answering, aborted])
    return new Response(body?.pipeThrough(new TransformStream(), { signal }), { status, headers })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Like the global `fetch`, but the request goes to one service in this process, whatever origin it names. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
