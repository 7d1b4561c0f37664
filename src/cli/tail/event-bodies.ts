import { ApiError, Unreachable, type Client } from '../../client.ts'

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
