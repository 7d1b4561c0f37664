import type { AttemptMessage, Client, StreamMessage } from '../../client.ts'
import type { Delivery } from '../../model/delivery.ts'
import { allDeliveries } from '../wait.ts'

/** So many deliveries are remembered by the number of their last attempt; those that matter are among the newest. */
const MOST_REMEMBERED = 20_000

/** Tells each attempt of some endpoints once, whatever comes twice and whatever a broken stream has left out. */
export function createAttempts() {
  const seen = new Map<string, number>()
  const isNew = ({ id, attempt }: AttemptMessage): boolean => {
    if (attempt.number <= (seen.get(id) ?? 0)) return false
    seen.delete(id)
    seen.set(id, attempt.number)
    const [oldest] = seen.keys()
    if (seen.size > MOST_REMEMBERED && oldest !== undefined) seen.delete(oldest)
    return true
  }
  return {
    /** What was attempted while nobody listened, oldest first. */
    async missed(
      client: Pick<Client, 'deliveries'>,
      endpoints: readonly string[],
    ): Promise<AttemptMessage[]> {
      const missed: AttemptMessage[] = []
      for (const endpoint_id of endpoints)
        for await (const delivery of allDeliveries(client, { endpoint_id }))
          missed.push(...attemptsOf(delivery))
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

function attemptsOf({ attempts, ...delivery }: Delivery): AttemptMessage[] {
  return attempts.map((attempt) => ({ ...delivery, attempt }))
}

function startOf({ attempt }: AttemptMessage): string {
  return attempt.started_at
}
