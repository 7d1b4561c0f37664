import { setTimeout as sleep } from 'node:timers/promises'
import { Unreachable, type AttemptMessage, type Client } from '../../client.ts'
import { openStream } from '../open-stream.ts'
import { createAttempts } from './attempts.ts'
import { register, type Registered } from './endpoints.ts'
import type { Route } from './door.ts'

/** What happens while `listen` runs. */
export type Happening =
  | { type: 'ready'; registered: readonly Registered[] }
  /** The service has ended, and is looked for until it is back. */
  | { type: 'disconnected' }
  /** It is back; `made` endpoints had to be registered again, as it had forgotten them. */
  | { type: 'reconnected'; registered: readonly Registered[]; made: number }
  | { type: 'attempt'; data: AttemptMessage; from: Registered }

interface Session {
  /** Looks for the service anew: one that was restarted may be at another port, with another key. */
  connect: () => Promise<Client>
  routes: readonly Route[]
  secret: string
  signal: AbortSignal
}

/** How often a service that has ended is looked for. */
const LOOK_AGAIN_MS = 500

/**
 * Registers the routes and tells each attempt, over restarts of the service, until the signal aborts.
 * @throws Unreachable when there is no service to begin with, and ApiError.
 */
export async function* listenTo({ connect, routes, secret, signal }: Session): AsyncGenerator<Happening> {
  const attempts = createAttempts()
  let lost: boolean | undefined
  while (!signal.aborted) {
    try {
      const client = await connect()
      const stream = await openStream(client, signal)
      const { registered, made } = await register(client, routes, secret)
      yield lost === undefined ? { type: 'ready', registered } : { type: 'reconnected', registered, made }
      lost = false
      const ids = registered.map(({ endpoint }) => endpoint.id)
      const from = (data: AttemptMessage): Happening[] =>
        registered
          .filter(({ endpoint }) => endpoint.id === data.endpoint_id)
          .map((one) => ({ type: 'attempt', data, from: one }))
      for (const data of await attempts.missed(client, ids)) yield* from(data)
      for await (const message of stream) for (const data of attempts.told(message, ids)) yield* from(data)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Unreachable) || lost === undefined) throw error
    }
    if (signal.aborted) return
    if (!lost) yield { type: 'disconnected' }
    lost = true
    await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
  }
}
