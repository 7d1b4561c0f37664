import { setTimeout as sleep } from 'node:timers/promises'
import { setNewest } from '../../model/bounded-map.ts'
import { ApiError, Unreachable, type Client, type AttemptMessage } from '../../client.ts'

/** The service has ended; the command waits for its return. */
export interface Disconnected {
  type: 'disconnected'
}

interface ReconnectOptions<T> {
  /** Locates the service again: after a restart it may have another port and key. */
  connect: () => Promise<Client>
  /**
   * Yields messages while connected. The first one says that the service is there; `again` is true after a reconnect.
   */
  messages: (client: Client, again: boolean) => AsyncGenerator<T>
  signal: AbortSignal
  /** Wait between connection attempts, in milliseconds; tests shorten it. */
  wait?: typeof WAIT
}

/** Wait between connection attempts, in milliseconds: first, and longest. */
const WAIT = { first: 100, longest: 2_000 }

/**
 * Limit of refusals in a row. While a service starts or stops, another one may refuse the request: `run.json` is
 * removed first and written last.
 */
const MOST_REFUSALS = 8

/**
 * Runs `messages` across restarts of the service, until the signal aborts.
 * @throws Unreachable when the service is absent at the start, and ApiError.
 */
export async function* reconnecting<T>({
  connect,
  messages,
  signal,
  wait: limits = WAIT,
}: ReconnectOptions<T>): AsyncGenerator<T | Disconnected> {
  let state: 'new' | 'there' | 'lost' = 'new'
  let refusals = 0
  let wait = limits.first
  while (!signal.aborted) {
    try {
      for await (const message of messages(await connect(), state !== 'new')) {
        state = 'there'
        refusals = 0
        wait = limits.first
        yield message
      }
    } catch (error) {
      if (signal.aborted) return
      refusals = error instanceof Unreachable ? 0 : refusals + 1
      if (state === 'new' || !mayRetry(error, refusals)) throw error
    }
    if (signal.aborted) return
    if (state === 'there') yield { type: 'disconnected' }
    state = 'lost'
    await sleep(wait, undefined, { signal }).catch(() => undefined)
    wait = Math.min(wait * 1.5, limits.longest)
  }
}

/** A proxy answers for a service that is away, by statuses and texts of its own. */
function mayRetry(error: unknown, refusals: number): boolean {
  if (error instanceof Unreachable) return true
  if (!(error instanceof ApiError)) return false
  const isAway = [408, 429, 502, 503, 504].includes(error.status) || error.code === 'unknown_error'
  return isAway || ([401, 403].includes(error.status) && refusals <= MOST_REFUSALS)
}

/**
 * Limit of remembered deliveries, each with the number of its last attempt; those that matter are among the newest.
 */
const MOST_REMEMBERED = 20_000

/** Filters attempts that were reported before. Those of one delivery must come in order. */
export function createAttemptFilter() {
  const seen = new Map<string, number>()
  return {
    /** Returns true for the first report of an attempt. */
    isNew({ id, attempt }: AttemptMessage): boolean {
      if (attempt.number <= (seen.get(id) ?? 0)) return false
      setNewest(seen, id, attempt.number, MOST_REMEMBERED)
      return true
    },
    forget: () => seen.clear(),
  }
}
