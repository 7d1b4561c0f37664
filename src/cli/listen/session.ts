import type { AttemptMessage, Client, StreamMessage } from '../../client.ts'
import { openStream } from '../../client/stream.ts'
import { reconnecting, type Disconnected, createAttemptFilter } from '../tail/reconnect.ts'
import { allEndpoints } from '../endpoint-urls.ts'
import { register, type RegisteredRoute } from './endpoints.ts'
import type { Tunnel } from './tunnel.ts'
import { attemptMessages } from '../../model/delivery.ts'

/** Event of a running `listen`. */
export type ListenEvent =
  | { type: 'ready'; registered: readonly RegisteredRoute[] }
  | Disconnected
  /** The service is back; `made` endpoints were registered again, since it had lost them. */
  | { type: 'reconnected'; registered: readonly RegisteredRoute[]; made: number }
  /** All data was replaced; `made` endpoints were registered again. */
  | { type: 'reset'; registered: readonly RegisteredRoute[]; made: number }
  | { type: 'attempt'; data: AttemptMessage; from: RegisteredRoute }
  /** Another command has deleted the endpoint. */
  | { type: 'deleted'; from: RegisteredRoute }

/** Milliseconds between two looks for deleted endpoints, each at an event. */
const CHECK_MS = 1_000

interface Session {
  /** Locates the service again: after a restart it may have another port and key. */
  connect: () => Promise<Client>
  tunnel: Pick<Tunnel, 'routes' | 'listener' | 'renew'>
  secret: string
  signal: AbortSignal
}

/**
 * Registers the routes and yields each attempt, across restarts of the service, until the signal aborts.
 * @throws Unreachable when the service is absent at the start, and ApiError.
 */
export function listenTo({ connect, tunnel, secret, signal }: Session): AsyncGenerator<ListenEvent> {
  const { routes, listener } = tunnel
  const attempts = createAttempts()
  return reconnecting<ListenEvent>({
    connect,
    signal,
    async *messages(client, again) {
      // Closes the stream also when the service refuses the registrations.
      const ended = new AbortController()
      const stream = await openStream(client, AbortSignal.any([signal, ended.signal]), {
        listener: listener?.name,
      })
      let registered: readonly RegisteredRoute[] = []
      let ids: readonly string[] = []
      let isChecked = false
      const registerAll = async () => {
        const result = await register(client, routes, secret)
        registered = result.registered
        ids = registered.map(({ endpoint }) => endpoint.id)
        return result
      }
      const from = (data: AttemptMessage): ListenEvent[] =>
        registered
          .filter(({ endpoint }) => endpoint.id === data.endpoint_id)
          .map((one) => ({ type: 'attempt', data, from: one }))
      try {
        if (again) await tunnel.renew?.()
        const { made } = await registerAll()
        yield again ? { type: 'reconnected', registered, made } : { type: 'ready', registered }
        for (const data of await attempts.missed(client, ids)) yield* from(data)
        for await (const message of stream) {
          if (message.type === 'reset') {
            const result = await registerAll()
            attempts.forget()
            // The attempts of a loaded state are not new.
            await attempts.missed(client, ids)
            yield { type: 'reset', ...result }
          }
          if (message.type === 'event' && !isChecked) {
            isChecked = true
            setTimeout(() => (isChecked = false), CHECK_MS).unref()
            const left = new Set((await allEndpoints(client)).map(({ id }) => id))
            for (const one of registered) if (!left.has(one.endpoint.id)) yield { type: 'deleted', from: one }
          }
          if (message.type === 'offer') void listener?.take(message.data, connect)
          const found =
            message.type === 'dropped' ? await attempts.missed(client, ids) : attempts.matching(message, ids)
          for (const data of found) yield* from(data)
        }
      } finally {
        ended.abort()
      }
    },
  })
}

/** Reports each attempt of some endpoints once, also after gaps and repetitions of the stream. */
function createAttempts() {
  const { isNew, forget } = createAttemptFilter()
  return {
    /** Returns the attempts that were not reported yet, oldest first. */
    async missed(
      client: Pick<Client, 'deliveries'>,
      endpoints: readonly string[],
    ): Promise<AttemptMessage[]> {
      const missed: AttemptMessage[] = []
      for (const endpoint_id of endpoints)
        for await (const delivery of client.deliveries.all({ endpoint_id }))
          missed.push(...attemptMessages(delivery))
      return missed.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1)).filter(isNew)
    },
    forget,
    /** Returns the attempt of a stream message, when it is new and of one of these endpoints. */
    matching(message: StreamMessage, endpoints: readonly string[]): AttemptMessage[] {
      const ours = message.type === 'attempt' && endpoints.includes(message.data.endpoint_id)
      return ours && isNew(message.data) ? [message.data] : []
    },
  }
}

/** Sorts attempts by their start. Those of a paused clock have the same start, and follow the order of the events. */
function sortKey({ id, attempt }: AttemptMessage): string {
  return `${attempt.started_at} ${id}`
}
