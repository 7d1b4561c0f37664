import type { AttemptMessage, Client, StreamMessage } from '../../client.ts'
import { attemptMessages } from '../../model/delivery.ts'
import { createAttemptFilter } from '../stream/deduplicate.ts'
import { paginate } from '../../client/listing.ts'

/** Tells each attempt of some endpoints once, whatever comes twice and whatever a broken stream has left out. */
export function createAttempts() {
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
