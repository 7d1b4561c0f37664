import { http, HttpResponse, type HttpHandler } from 'msw'
import type { Simulator } from '../library.ts'

/** Options of the handlers. */
export interface HandlerOptions {
  /** Base URL that the application uses, such as `https://api.example.com/v1`. */
  baseUrl: string
}

/**
 * Returns handlers that answer each request to `baseUrl` with the simulator, in this process. They serve the API, not the
 * simulator's own controls. Deliveries do not pass msw; to give them to other handlers, pass them to `fetch` with
 * `simulator.receive`.
 * @throws TypeError when `baseUrl` is no absolute URL.
 * @example
 * const simulator = await createSimulator({ port: false })
 * const server = setupServer(...handlers(simulator, { baseUrl: 'https://api.example.com/v1' }))
 * simulator.receive('https://shop.example', (request) => fetch(request))
 */
export function handlers(
  simulator: Pick<Simulator, 'baseUrl' | 'fetch'>,
  { baseUrl }: HandlerOptions,
): HttpHandler[] {
  const { origin, pathname } = new URL(baseUrl)
  const base = origin + pathname.replace(/\/+$/, '')
  return [
    http.all(beneath(base), async ({ request }) => {
      const { href } = new URL(request.url)
      try {
        return await simulator.fetch(new Request(simulator.baseUrl + href.slice(base.length), request))
      } catch {
        // A connection that breaks, on purpose or because the simulator is closed.
        return HttpResponse.error()
      }
    }),
  ]
}

function beneath(base: string): RegExp {
  return new RegExp(`^${base.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?=[/?#]|$)`)
}
