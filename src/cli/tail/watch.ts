import { type Client, type StreamMessage, ApiError, Unreachable } from '../../client.ts'
import { openStream } from '../../client/stream.ts'
import { reconnecting, type Disconnected } from '../reconnect.ts'
import { nowOf, timeOf, type Since } from '../time.ts'
import { createNews, type Told } from './deduplicate.ts'

/** What happens while `tail` runs. */
export type Happening =
  | { type: 'listening' }
  | { type: 'reconnected' }
  | Disconnected
  | Told
  | Extract<StreamMessage, { type: 'reset' }>

interface Watch {
  /** Looks for the service anew each time. */
  connect: () => Promise<Client>
  signal: AbortSignal
  /** Tells first what has begun since then. */
  since: Since | undefined
  /** Whether to wait for the service when it ends, until it is back. */
  reconnect: boolean
}

/**
 * Tells what the stream tells, each thing once, over restarts of the service: what happened meanwhile, and what a broken
 * stream has left out, comes when it is back. Requests are known to a service only until it ends.
 * @throws Unreachable when there is no service to begin with, or, unless it is waited for, when it breaks off; and ApiError.
 */
export async function* watch({ connect, signal, since, reconnect }: Watch): AsyncGenerator<Happening> {
  const news = createNews()

  async function* attend(client: Client, again: boolean): AsyncGenerator<Happening> {
    const now = await nowOf(client)
    const wanted = again || since === undefined ? undefined : await timeOf(client, since)
    if (!again) news.begin(now)
    const from = news.since(now)
    let stream = await openStream(client, signal, wanted !== undefined && wanted < from ? wanted : from)
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
          news.forget(await nowOf(client))
          yield message
        } else if (message.type !== 'event' && news.isNew(message))
          if (live || isWanted(message, wanted)) yield message
      }
      // What the service dropped because it was not read in time is read from what it has stored.
      if (!isWhole) stream = await openStream(client, signal, news.since(await nowOf(client)))
    }
  }

  if (reconnect) yield* reconnecting({ connect, signal, attend })
  else yield* attend(await connect(), false)
}

/** Of what was before this `tail`: what it was asked for. The rest is listened to so that it is known when it comes again. */
function isWanted({ type, data }: Told, since: Date | undefined): boolean {
  if (since === undefined) return false
  return (
    type === 'delivery' || new Date(type === 'attempt' ? data.attempt.started_at : data.started_at) >= since
  )
}

/** The deliveries of one event come close together, and its body does not change. */
const MOST_REMEMBERED = 100

/** Reads the exact bodies of events; `null` when there is no such event any more, or no service to ask. */
export function createEventBodies(
  connect: () => Promise<Client>,
): (eventId: string) => Promise<string | null> {
  const bodies = new Map<string, string>()
  return async (id) => {
    const known = bodies.get(id)
    if (known !== undefined) return known
    const client = await connect()
    const event = await client.events.get(id).catch((error: unknown) => {
      // What is told must not be lost over what can be asked for later.
      if (error instanceof Unreachable || (error instanceof ApiError && [404, 503].includes(error.status)))
        return undefined
      throw error
    })
    if (event === undefined) return null
    bodies.set(id, event.body)
    const [oldest] = bodies.keys()
    if (bodies.size > MOST_REMEMBERED && oldest !== undefined) bodies.delete(oldest)
    return event.body
  }
}
