import { setNewest } from '../../model/bounded-map.ts'
import { ApiError, type Client, type StreamMessage, Unreachable } from '../../client.ts'
import { openStream } from '../../client/stream.ts'
import { createAttemptFilter, type Disconnected, reconnecting } from './reconnect.ts'
import { nowOf, type Since, startOfSince } from '../time.ts'

/** Event of a running `tail`. */
export type TailEvent =
  | { type: 'listening' }
  | { type: 'reconnected' }
  | Disconnected
  | TailMessage
  | Extract<StreamMessage, { type: 'reset' }>

interface Watch {
  /** Locates the service again each time. */
  connect: () => Promise<Client>
  /** Ends the stream; without it, only the service does. */
  signal?: AbortSignal | undefined
  /** First yields the attempts and requests that started at this time or later. */
  since: Since | undefined
  /** True to wait for the service when it ends. */
  reconnect: boolean
}

/**
 * Yields the messages of the stream, each once, across restarts of the service. Messages that were missed meanwhile,
 * or that a broken stream left out, follow after a reconnect. A service knows requests only until it ends.
 * @throws Unreachable when the service is absent at the start or, without `reconnect`, when it ends; and ApiError.
 */
export async function* watch({
  connect,
  signal = new AbortController().signal,
  since,
  reconnect,
}: Watch): AsyncGenerator<TailEvent> {
  const seen = createDeduplicator()
  /** Id of the last message. With it, another instance of a shared sandbox continues the stream where it broke. */
  let lastEventId: string | undefined
  const onId = (id: string) => (lastEventId = id)

  async function* messages(client: Client, again: boolean): AsyncGenerator<TailEvent> {
    const now = await nowOf(client)
    const wanted = again || since === undefined ? undefined : await startOfSince(client, since)
    if (!again) seen.begin(now)
    const from = seen.since(now)
    const earliest = wanted !== undefined && wanted < from ? wanted : from
    let stream = await openStream(client, signal, { since: earliest, lastEventId, onId })
    yield { type: again ? 'reconnected' : 'listening' }
    let live = again
    for (let isWhole = false; !isWhole;) {
      isWhole = true
      for await (const message of stream) {
        if (message.type === 'dropped') {
          isWhole = false
          break
        } else if (message.type === 'live') live = true
        else if (message.type === 'reset') {
          seen.forget(await nowOf(client))
          yield message
        } else if (message.type !== 'event' && message.type !== 'offer' && seen.isNew(message))
          if (live || isWanted(message, wanted)) yield message
      }
      // Messages that the service dropped, because they were read too slowly, are read from its store.
      if (!isWhole)
        stream = await openStream(client, signal, { since: seen.since(await nowOf(client)), onId })
    }
  }

  if (reconnect) yield* reconnecting({ connect, signal, messages })
  else yield* messages(await connect(), false)
}

/**
 * Returns true for earlier messages that `since` asks for. The others are read so that they are known when they come
 * again.
 */
function isWanted({ type, data }: TailMessage, since: Date | undefined): boolean {
  if (since === undefined) return false
  return (
    type === 'delivery' || new Date(type === 'attempt' ? data.attempt.started_at : data.started_at) >= since
  )
}

/** Limit of cached bodies: the deliveries of one event come close together, and its body does not change. */
const MOST_BODIES = 100

/** Reads the exact bodies of events; `null` when the event is gone or the service is absent. */
export function createEventBodies(
  connect: () => Promise<Client>,
): (eventId: string) => Promise<string | null> {
  const bodies = new Map<string, string>()
  return async (id) => {
    const known = bodies.get(id)
    if (known !== undefined) return known
    const client = await connect()
    const event = await client.events.get(id).catch((error: unknown) => {
      // A missing body must not end the stream.
      if (error instanceof Unreachable || (error instanceof ApiError && [404, 503].includes(error.status)))
        return undefined
      throw error
    })
    if (event === undefined) return null
    setNewest(bodies, id, event.body, MOST_BODIES)
    return event.body
  }
}

/** Message that can be repeated after a reconnect. */
export type TailMessage = Extract<StreamMessage, { type: 'attempt' | 'delivery' | 'request' }>

/** Limit of remembered requests and dead deliveries: more than the service's request log holds. */
const MOST_REMEMBERED = 5_000

/** Overlap when resuming, in milliseconds; longer than any attempt. */
const MARGIN_MS = 60_000

/** Filters messages that were shown before, and knows from when on to resume an interrupted stream. */
export function createDeduplicator() {
  const attempts = createAttemptFilter()
  const others = new Map<string, true>()
  let newest = 0
  const isNewKey = (key: string) => {
    if (others.has(key)) return false
    setNewest(others, key, true, MOST_REMEMBERED)
    return true
  }
  return {
    /** Returns true for the first copy of a message. */
    isNew({ type, data }: TailMessage): boolean {
      if (type === 'delivery') return isNewKey(`${data.id} dead`)
      newest = Math.max(newest, Date.parse(type === 'attempt' ? data.attempt.started_at : data.started_at))
      if (type === 'request') return isNewKey(data.id)
      // The last attempt shows that its delivery is dead.
      if (attempts.isNew(data)) return data.status !== 'dead' || isNewKey(`${data.id} dead`)
      return false
    },
    /**
     * Returns the time from which to resume. A clock behind the newest message belongs to another store, of which
     * everything is new.
     */
    since(now: Date): Date {
      return new Date(now.getTime() < newest ? 0 : Math.max(newest - MARGIN_MS, 0))
    },
    /** Sets the service clock's time at the start: earlier messages are not missing. */
    begin(now: Date): void {
      newest = now.getTime()
    },
    /** Forgets all messages, after another state was loaded. */
    forget(now: Date): void {
      attempts.forget()
      others.clear()
      newest = now.getTime()
    },
  }
}
