import type { AttemptMessage, Client, StreamMessage } from '../../client.ts'
import { openStream } from '../../client/stream.ts'
import { reconnecting, type Disconnected, createAttemptFilter } from '../reconnect.ts'
import { register, type Registered } from './endpoints.ts'
import type { Route } from './tunnel.ts'
import { attemptMessages } from '../../model/attempt-message.ts'
import { paginate } from '../../client/reads.ts'

/** What happens while `listen` runs. */
export type Happening =
  | { type: 'ready'; registered: readonly Registered[] }
  | Disconnected
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

/**
 * Registers the routes and tells each attempt, over restarts of the service, until the signal aborts.
 * @throws Unreachable when there is no service to begin with, and ApiError.
 */
export function listenTo({ connect, routes, secret, signal }: Session): AsyncGenerator<Happening> {
  const attempts = createAttempts()
  return reconnecting<Happening>({
    connect,
    signal,
    async *attend(client, again) {
      const stream = await openStream(client, signal)
      const { registered, made } = await register(client, routes, secret)
      yield again ? { type: 'reconnected', registered, made } : { type: 'ready', registered }
      const ids = registered.map(({ endpoint }) => endpoint.id)
      const from = (data: AttemptMessage): Happening[] =>
        registered
          .filter(({ endpoint }) => endpoint.id === data.endpoint_id)
          .map((one) => ({ type: 'attempt', data, from: one }))
      for (const data of await attempts.missed(client, ids)) yield* from(data)
      for await (const message of stream) {
        const told =
          message.type === 'dropped' ? await attempts.missed(client, ids) : attempts.told(message, ids)
        for (const data of told) yield* from(data)
      }
    },
  })
}

/** Tells each attempt of some endpoints once, whatever comes twice and whatever a broken stream has left out. */
function createAttempts() {
  const { isNew } = createAttemptFilter()
  return {
    /** What was attempted while nobody listened, oldest first. */
    async missed(
      client: Pick<Client, 'deliveries'>,
      endpoints: readonly string[],
    ): Promise<AttemptMessage[]> {
      const missed: AttemptMessage[] = []
      for (const endpoint_id of endpoints)
        for await (const delivery of paginate(client.deliveries.list, { endpoint_id }))
          missed.push(...attemptMessages(delivery))
      const inOrder = missed.sort((one, other) => (startOf(one) < startOf(other) ? -1 : 1))
      return inOrder.filter(isNew)
    },
    /** The attempt that a message of the stream tells of, when it is new and of one of these endpoints. */
    told(message: StreamMessage, endpoints: readonly string[]): AttemptMessage[] {
      const ours = message.type === 'attempt' && endpoints.includes(message.data.endpoint_id)
      return ours && isNew(message.data) ? [message.data] : []
    },
  }
}

function startOf({ attempt }: AttemptMessage): string {
  return attempt.started_at
}
