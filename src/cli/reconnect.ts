import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, Unreachable, type Client, type AttemptMessage } from '../client.ts'

/** The service has ended, and is looked for until it is back. */
export interface Disconnected {
  type: 'disconnected'
}

interface Attendance<T> {
  /** Looks for the service anew: one that was restarted may be at another port, with another key. */
  connect: () => Promise<Client>
  /** What there is to tell while the service is there. The first thing says that it is; `again`, that it was before. */
  attend: (client: Client, again: boolean) => AsyncGenerator<T>
  signal: AbortSignal
}

/** In milliseconds, until the service is looked for again: soon at first, and never less often than a person would. */
const WAIT = { first: 100, longest: 2_000 }

/**
 * A service that is about to end or to begin may answer with somebody else's refusal: `run.json` is the first thing to go
 * and the last to come. So often it is asked again before a refusal is believed.
 */
const MOST_REFUSALS = 8

/**
 * Attends to a service over its restarts, until the signal aborts.
 * @throws Unreachable when there is no service to begin with, and ApiError.
 */
export async function* reconnecting<T>({
  connect,
  attend,
  signal,
}: Attendance<T>): AsyncGenerator<T | Disconnected> {
  let state: 'new' | 'there' | 'lost' = 'new'
  let refusals = 0
  let wait = WAIT.first
  while (!signal.aborted) {
    try {
      for await (const told of attend(await connect(), state !== 'new')) {
        state = 'there'
        refusals = 0
        wait = WAIT.first
        yield told
      }
    } catch (error) {
      if (signal.aborted) return
      if (state === 'new' || !mayPass(error, ++refusals)) throw error
    }
    if (signal.aborted) return
    if (state === 'there') yield { type: 'disconnected' }
    state = 'lost'
    await sleep(wait, undefined, { signal }).catch(() => undefined)
    wait = Math.min(wait * 1.5, WAIT.longest)
  }
}

function mayPass(error: unknown, refusals: number): boolean {
  if (error instanceof Unreachable) return true
  return error instanceof ApiError && [401, 403, 503].includes(error.status) && refusals <= MOST_REFUSALS
}

/** So many deliveries are remembered by the number of their last attempt; those that matter are among the newest. */
const MOST_REMEMBERED = 20_000

/** Tells attempts that were told before from new ones; those of one delivery are to come in their order. */
export function createAttemptFilter() {
  const seen = new Map<string, number>()
  return {
    /** Whether it is new; from then on it is not. */
    isNew({ id, attempt }: AttemptMessage): boolean {
      if (attempt.number <= (seen.get(id) ?? 0)) return false
      seen.delete(id)
      seen.set(id, attempt.number)
      const [oldest] = seen.keys()
      if (seen.size > MOST_REMEMBERED && oldest !== undefined) seen.delete(oldest)
      return true
    },
    forget: () => seen.clear(),
  }
}
