import type { Delivery } from '../../model/delivery.ts'
import type { Write } from '../../model/records.ts'
import type { Service } from '../../service.ts'
import type { HttpResponse } from '../refusals.ts'
import type { RequestLog } from '../request-log/log.ts'
import { readHistory } from './history.ts'
import { messagesOf, requestMessage, type StreamMessage } from './message.ts'
import { offeredAttempt, offeredIn, openOffersOf } from './offers.ts'
import { createPositions, positioned, type Position } from './position.ts'
import { createSubscriber, type Subscriber } from './subscriber.ts'
import { timers } from '../../timers.ts'

/**
 * Live stream of server-sent events (contract section 10): `request`, `event` and `attempt`; `delivery` for a delivery that
 * is dead without another attempt; `reset` when the state was replaced, so that earlier messages are void; `dropped` with
 * the `count` of messages that a slow subscriber missed.
 */
export interface Stream {
  /**
   * Subscribes from now on. With `since`, an ISO 8601 time in UTC, first sends stored attempts and requests since then,
   * oldest first. Then come `live` and live messages, without gaps or duplicates. With `lastEventId`, the id of the last
   * message that the client has, sends the messages since that one, then `live`. When they are no longer kept, `dropped`
   * or `reset` takes their place. An unknown id is ignored. With `listener`, also sends `offer` for each attempt that is
   * offered to this listener: those without an answer at first, and again after `dropped`. Offers have no ids. The stream
   * ends when the key with the id `keyId` is revoked.
   * @throws Refusal `storage_unavailable`.
   */
  open(options?: StreamQuery): Promise<HttpResponse>
  /** Ends all open streams, and those that open later at once, so that a shutdown does not wait for them. */
  close(): void
}

interface StreamQuery {
  since?: string | undefined
  lastEventId?: string | null
  listener?: string | undefined
  keyId?: string
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

/** The service as the stream sees it. */
type Source = Pick<
  Service,
  'onCommit' | 'list' | 'get' | 'find' | 'generation' | 'sequence' | 'committedAfter'
>

interface Feed {
  /** Text that the ids of messages begin with. Instances of a shared sandbox have the same one, others do not. */
  token: string
  /** In a shared sandbox: resolves when this instance has sent all changes that any instance made before the call. */
  bringUpToDate?: (() => Promise<void>) | undefined
  /** Names the headers of offered attempts. */
  serviceName: string
}

export function createStream(
  service: Source,
  log: Pick<RequestLog, 'onAdd' | 'list' | 'get' | 'newest' | 'after'>,
  { token, bringUpToDate, serviceName }: Feed,
): Stream {
  const subscribers = new Map<Subscriber, Pick<StreamQuery, 'listener' | 'keyId'>>()
  const positions = createPositions(token)
  let isClosed = false
  let now: Position = {
    generation: service.generation(),
    sequence: service.sequence(),
    messages: 0,
    request: log.newest(),
  }
  const publish = ({ type, key, text }: StreamMessage) => {
    const id = positions.textOf(now)
    let encoded: Uint8Array | undefined
    const bytes = () => (encoded ??= encoder.encode(`id: ${id}\nevent: ${type}\ndata: ${text()}\n\n`))
    for (const subscriber of subscribers.keys()) subscriber.send(key, bytes)
  }
  /** Sends a listener an offer. When the store fails, ends the stream: the listener opens it again and gets all offers. */
  const offer = async (subscriber: Subscriber, offered: Promise<readonly Delivery[]>) => {
    try {
      for (const delivery of await offered) {
        const attempt = await offeredAttempt(service, serviceName, delivery)
        const bytes = () => encoder.encode(`event: offer\ndata: ${JSON.stringify(attempt)}\n\n`)
        if (attempt !== undefined) subscriber.send(`offer ${attempt.offer}`, bytes)
      }
    } catch {
      subscriber.close()
    }
  }
  const offerAll = (subscriber: Subscriber) => {
    const listener = subscribers.get(subscriber)?.listener
    if (listener !== undefined) void offer(subscriber, openOffersOf(service, listener))
  }
  const offerNew = (writes: readonly Write[]) => {
    for (const offered of writes.map(offeredIn))
      for (const [subscriber, { listener }] of subscribers)
        if (offered !== undefined && offered.listener === listener)
          void offer(subscriber, Promise.resolve([offered.delivery]))
  }
  const endRevoked = (writes: readonly Write[]) => {
    for (const write of writes)
      if (write.collection === 'keys' && 'put' in write && write.put.revoked_at !== null)
        for (const [subscriber, { keyId }] of subscribers) if (keyId === write.put.id) subscriber.close()
  }
  /** Returns true when the key was revoked between its check and the subscription. */
  const isRevoked = async (keyId: string | undefined) => {
    const key = keyId === undefined ? undefined : await service.get('keys', keyId)
    return key !== undefined && key.revoked_at !== null
  }
  // Without subscribers, no message is serialised.
  log.onAdd(({ id, number, read }) => {
    now = { ...now, request: number }
    if (subscribers.size > 0) publish(requestMessage(id, read))
  })
  service.onCommit((writes, kind, sequence) => {
    if (kind === 'replacement') {
      now = { ...now, generation: service.generation(), sequence, messages: 0 }
      return publish(resetMessage)
    }
    if (subscribers.size > 0)
      for (const [message, position] of positioned(now, sequence, writes.flatMap(messagesOf))) {
        now = position
        publish(message)
      }
    now = { ...now, sequence, messages: 0 }
    if (subscribers.size === 0) return
    offerNew(writes)
    endRevoked(writes)
  })
  /** Returns the messages between two positions, each with its id. */
  const missed = async (from: Position, to: Position): Promise<StreamMessage[]> => {
    const dropped = [droppedMessage(Math.max(1, to.sequence - from.sequence + to.request - from.request))]
    if (from.generation !== to.generation) return [resetMessage, ...dropped]
    const commits = await service.committedAfter(from.sequence)
    const requests = log.after(from.request)
    if (commits === undefined || requests === undefined) return dropped
    let at = from
    const found: StreamMessage[] = []
    let skipped = from.messages
    for (const { sequence, writes } of commits.filter((commit) => commit.sequence <= to.sequence)) {
      for (const [message, position] of positioned(at, sequence, writes.flatMap(messagesOf)))
        if (skipped > 0) skipped -= 1
        else found.push({ ...message, id: positions.textOf(position) })
      at = { ...at, sequence, messages: 0 }
    }
    for (const { id, number, read } of requests.filter((request) => request.number <= to.request)) {
      at = { ...at, request: number }
      found.push({ ...requestMessage(id, read), id: positions.textOf(at) })
    }
    return found
  }
  const historyOf = async (from: Position | undefined, to: Position, since: string | undefined) =>
    from === undefined ? readHistory({ service, log }, since ?? '') : missed(from, to)
  const heartbeat = timers.setInterval(() => {
    for (const subscriber of subscribers.keys()) subscriber.beat(HEARTBEAT)
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    async open({ since, lastEventId, ...owner } = {}) {
      if (bringUpToDate !== undefined) await bringUpToDate()
      const asked = positions.read(lastEventId)
      const from = asked === undefined || positions.isAhead(asked, now) ? undefined : asked
      const to = now
      const hasHistory = since !== undefined || from !== undefined
      const id = positions.textOf(to)
      const subscriber = createSubscriber({
        greeting: hasHistory ? ': listening\n\n' : `: listening\nid: ${id}\n\n`,
        history: hasHistory ? { end: id } : undefined,
        mostBytes: MOST_WAITING_BYTES,
        dropped(count) {
          offerAll(subscriber)
          return `event: dropped\ndata: ${JSON.stringify({ count })}\n\n`
        },
        onEnd: () => void subscribers.delete(subscriber),
      })
      subscribers.set(subscriber, owner)
      try {
        if (isClosed || (await isRevoked(owner.keyId))) subscriber.close()
        offerAll(subscriber)
        if (hasHistory) {
          const history = await historyOf(from, to, since)
          // Messages committed before the read were already sent.
          await timers.nextTurn()
          subscriber.begin(history)
        }
      } catch (error) {
        subscriber.close()
        throw error
      }
      return { status: 200, headers: streamHeaders, body: subscriber.body }
    },
    close() {
      isClosed = true
      timers.clearInterval(heartbeat)
      for (const subscriber of subscribers.keys()) subscriber.close()
    },
  }
}

const resetMessage: StreamMessage = { type: 'reset', key: 'reset', text: () => '{}' }

function droppedMessage(count: number): StreamMessage {
  return { type: 'dropped', key: 'dropped', text: () => JSON.stringify({ count }) }
}
