import type { Service } from '../../service.ts'
import type { Answer } from '../refusals.ts'
import type { RequestLog } from '../request-log/log.ts'
import { readHistory } from './history.ts'
import { messagesOf, requestMessage, type Message } from './message.ts'
import { createSubscriber, type Subscriber } from './subscriber.ts'
import { timers } from '../../timers.ts'

/**
 * Live stream of server-sent events (contract section 10): `request`, `event` and `attempt`; `delivery` for a delivery that
 * is dead without another attempt; `reset` when the state was replaced, so that earlier messages are void; `dropped` with
 * the `count` of messages that a slow subscriber missed.
 */
export interface Stream {
  /**
   * Subscribes from now on. With `since`, an ISO 8601 time in UTC, sends stored attempts and requests since then first,
   * oldest first, then `live`, then live messages, without gaps or duplicates.
   * @throws Refusal `storage_unavailable`.
   */
  open(since?: string): Promise<Answer>
  /** Ends all open streams, so that a shutdown does not wait for them. */
  close(): void
}

/**
 * Limit of queued bytes per subscriber: a few of the longest messages. Subscribers share the bytes of a message. Missed
 * messages can be read from the lists.
 */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

/** Interval of heartbeats, below the idle timeouts of proxies. */
export const HEARTBEAT_MS = 15_000

const encoder = new TextEncoder()
export const HEARTBEAT = encoder.encode(': still here\n\n')

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

export function createStream(
  service: Pick<Service, 'onCommit' | 'list' | 'get'>,
  log: Pick<RequestLog, 'onAdd' | 'list' | 'get'>,
): Stream {
  const subscribers = new Set<Subscriber>()
  let count = 0
  const publish = ({ type, key, text }: Message) => {
    const id = ++count
    let encoded: Uint8Array | undefined
    const bytes = () => (encoded ??= encoder.encode(`id: ${id}\nevent: ${type}\ndata: ${text()}\n\n`))
    for (const subscriber of subscribers) subscriber.tell(key, bytes)
  }
  // Without subscribers, no message is serialised.
  log.onAdd((id, read) => {
    if (subscribers.size > 0) publish(requestMessage(id, read))
  })
  service.onCommit((writes, kind) => {
    if (kind === 'replacement') publish({ type: 'reset', key: 'reset', text: () => '{}' })
    else if (subscribers.size > 0) for (const message of writes.flatMap(messagesOf)) publish(message)
  })
  const heartbeat = timers.setInterval(() => {
    for (const subscriber of subscribers) subscriber.beat(HEARTBEAT)
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    async open(since) {
      const subscriber = createSubscriber({
        greeting: ': listening\n\n',
        withHistory: since !== undefined,
        mostBytes: MOST_WAITING_BYTES,
        dropped: (count) => `event: dropped\ndata: ${JSON.stringify({ count })}\n\n`,
        onEnd: () => subscribers.delete(subscriber),
      })
      subscribers.add(subscriber)
      if (since !== undefined)
        try {
          const history = await readHistory({ service, log }, since)
          // Messages committed before the read were already sent.
          await timers.nextTurn()
          subscriber.begin(history)
        } catch (error) {
          subscriber.close()
          throw error
        }
      return { status: 200, headers: streamHeaders, body: subscriber.body }
    },
    close() {
      timers.clearInterval(heartbeat)
      for (const subscriber of subscribers) subscriber.close()
    },
  }
}
