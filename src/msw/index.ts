import { http, HttpResponse, type HttpHandler } from 'msw'
import type { Simulator } from '../library.ts'
import { requireKnownOptions, shown } from '../model/simulator/settings.ts'

/** Options of the handlers. */
export interface HandlerOptions {
  /** Base URL that the application uses, such as `https://api.example.com/v1`. */
  baseUrl: string
}

/**
 * Returns handlers that answer each request to `baseUrl` with the simulator, in this process. They serve the API, not the
 * simulator's own controls. Deliveries do not pass msw; to give them to other handlers, pass them to `fetch` with
 * `simulator.receive`.
 * @throws TypeError without a simulator, for unknown options, and unless `baseUrl` is an absolute URL without a query.
 * @example
 * const simulator = await createSimulator({ port: false })
 * const server = setupServer(...handlers(simulator, { baseUrl: 'https://api.example.com/v1' }))
 * simulator.receive('https://shop.example', (request) => fetch(request))
 */
export function handlers(
  simulator: Pick<Simulator, 'baseUrl' | 'fetch'>,
  options: HandlerOptions,
): HttpHandler[] {
  if (typeof (simulator as Partial<Simulator> | undefined)?.fetch !== 'function')
    throw new TypeError(
      `handlers() expects a simulator from createSimulator, got ${simulator instanceof Promise ? 'a Promise; await it first' : shown(simulator)}.`,
    )
  requireKnownOptions(options, ['baseUrl'])
  const { origin, pathname } = parsed(options.baseUrl)
  const base = origin + pathname.replace(/\/+$/, '')
  return [
    http.all(beneath(base), async ({ request }) => {
      const { href } = new URL(request.url)
      const { method, headers } = request
      try {
        // Field by field: a request of a simulated browser such as jsdom is not copied as a whole.
        const body = ['GET', 'HEAD'].includes(method) ? null : await request.arrayBuffer()
        return await simulator.fetch(simulator.baseUrl + href.slice(base.length), { method, headers, body })
      } catch {
        // A connection that breaks, on purpose or because the simulator is closed.
        return HttpResponse.error()
      }
    }),
  ]
}

/** @throws TypeError unless it is an absolute URL without a query or fragment, which no request would match. */
function parsed(baseUrl: unknown): URL {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url
  throw new TypeError(
    `baseUrl must be an absolute URL without a query, such as https://api.example.com/v1, got ${shown(baseUrl)}.`,
  )
}

function beneath(base: string): RegExp {
  return new RegExp(`^${base.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?=[/?#]|$)`)
}
