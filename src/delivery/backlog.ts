import type { Delivery } from '../model/delivery.ts'
import { pendingIn, type Write } from '../model/records.ts'
import type { Service } from '../service.ts'
import { timers } from '../timers.ts'

type FindUnfinished = Service['unfinished']

/**
 * Deliveries to wait for: those that exist when a wait begins, and those created within {@link LONGEST_WAIT_MS} of it, such as
 * for pushes of a receiver. Further ones are attempted but not waited for: under steady traffic the wait would never end.
 * After the first {@link LONGEST_WAIT_MS} of a backlog, at most {@link MOST_LATE} deliveries join it, over all of its waits.
 * Otherwise a move of the clock would never end while new retries fall due faster than they are attempted.
 */
export interface Backlog {
  /**
   * Resolves when none of its deliveries is due or in flight. An endpoint that keeps getting deliveries is waited for at
   * most {@link LONGEST_WAIT_MS}, since its receiver may be too slow for all of them; while no attempt of this instance to
   * it is slow, at most {@link LONGEST_FOR_QUICK_MS}.
   * Rejects when the store fails, or with the reason of `signal`.
   */
  settle(signal?: AbortSignal): Promise<Settled>
  /** Ids of its deliveries in flight, at most ten. */
  inFlight(): readonly string[]
  /** Must be called when the wait is over. */
  end(): void
}

/** Deliveries of a backlog that remain when none of it is due. */
export interface Settled {
  /** When its next delivery falls due; `null` when none is scheduled. */
  next_at: string | null
  /** Number of deliveries in backoff because the outcome of their attempt could not be recorded. */
  unrecorded: number
}

/** Milliseconds of real time after which steady traffic is no longer waited for. */
const LONGEST_WAIT_MS = 1_000
/**
 * The same while no attempt of this instance to an endpoint is slow: the machine or the database may be. Less than the four
 * seconds that waits of tests take by default.
 */
const LONGEST_FOR_QUICK_MS = 3_000
/** Number of further deliveries to an endpoint from which its traffic counts as steady. */
const STEADY = 5
/** Most deliveries that join a backlog after its first {@link LONGEST_WAIT_MS}. */
const MOST_LATE = 100
/** Interval at which a wait is counted, in milliseconds. Time in which the process does not run does not count. */
const TICK_MS = 100
/** Most deliveries that `inFlight` returns. */
const MOST_NAMED = 10

interface BacklogParts {
  /** Causes a call of `look` soon. */
  wake: () => void
  /** Deliveries in flight by id, with the endpoint where it is known. */
  inFlight: () => Iterable<readonly [id: string, endpointId: string | undefined]>
  /** True when an attempt to the endpoint takes long. */
  isSlow: (endpointId: string) => boolean
  unfinished: (query: Pick<Parameters<FindUnfinished>[0], 'upTo' | 'except'>) => ReturnType<FindUnfinished>
  /** Number of attempts that could not be recorded and will be repeated. */
  unrecorded: () => number
}

interface Waiting {
  /** Milliseconds that it has waited, in ticks. */
  waited: number
  /** Id of the newest delivery to wait for when the wait began. */
  upTo: string
  resolve: (settled: Settled) => void
  reject: (reason: unknown) => void
}

interface Member {
  opened: number
  /** When its last wait began. */
  began: number
  /** Id of the newest delivery to wait for. */
  upTo: string
  /** Id of the newest delivery that the next wait may include. */
  newest: string
  /** Number of deliveries created later than {@link LONGEST_WAIT_MS} after `opened`. */
  late: number
  /** Number of further deliveries since its last wait began, by endpoint. */
  further: Map<string, number>
  /** Endpoints that are no longer waited for. */
  ignored: Set<string>
  waiting: Waiting | undefined
}

const NOTHING: Settled = { next_at: null, unrecorded: 0 }

/** Keeps the backlogs that callers wait for. */
export function createBacklogs({ wake, inFlight, isSlow, unfinished, unrecorded }: BacklogParts) {
  const members = new Set<Member>()
  let stopped = false

  function inFlightOf({ upTo, ignored }: Member): string[] {
    const waitedFor = ([id, endpoint]: readonly [string, string | undefined]) =>
      id <= upTo && (endpoint === undefined || !ignored.has(endpoint))
    return [...inFlight()].filter(waitedFor).map(([id]) => id)
  }

  /** Stops waiting for busy endpoints that have deliveries up to `upTo` due or in flight, unless their attempts are quick. */
  async function ignoreBusyEndpoints({ further, ignored }: Member, { upTo, waited }: Waiting): Promise<void> {
    const before = [...inFlight()]
    const { due } = await unfinished({ upTo, except: ignored })
    const now = [...inFlight()]
    const endpointsInFlight = now.flatMap(([id, endpoint]) => (id <= upTo ? [endpoint] : []))
    // Attempts may have ended meanwhile, and the next ones begin after this look.
    const attempted = new Set([...before, ...now].map(([, endpoint]) => endpoint))
    const isQuick = (endpoint: string) =>
      waited < LONGEST_FOR_QUICK_MS && attempted.has(endpoint) && !isSlow(endpoint)
    for (const endpoint of [...due, ...endpointsInFlight])
      if (endpoint !== undefined && (further.get(endpoint) ?? 0) >= STEADY && !isQuick(endpoint))
        ignored.add(endpoint)
  }

  function tick({ waiting }: Member): void {
    if (waiting === undefined || waiting.waited >= LONGEST_FOR_QUICK_MS) return
    waiting.waited += TICK_MS
    if ([LONGEST_WAIT_MS, LONGEST_FOR_QUICK_MS].includes(waiting.waited)) wake()
  }

  async function lookAt(member: Member): Promise<void> {
    const { waiting, ignored } = member
    if (waiting === undefined) return
    if (waiting.waited >= LONGEST_WAIT_MS) await ignoreBusyEndpoints(member, waiting)
    if (inFlightOf(member).length > 0) return
    const { due, next_at } = await unfinished({ upTo: member.upTo, except: ignored })
    // While the store was read, an attempt may have begun, or its outcome been recorded.
    if (due.length === 0 && inFlightOf(member).length === 0)
      waiting.resolve({ next_at, unrecorded: unrecorded() })
  }

  return {
    /** The backlogs that have not ended; while there are none, `note` and `look` have nothing to do. */
    members: members as ReadonlySet<object>,
    /** Opens a backlog of the deliveries up to the id `upTo`; empty for none. */
    open(upTo: string): Backlog {
      const member: Member = {
        opened: timers.elapsed(),
        began: timers.elapsed(),
        upTo,
        newest: upTo,
        late: 0,
        further: new Map(),
        ignored: new Set(),
        waiting: undefined,
      }
      members.add(member)
      return {
        async settle(signal) {
          signal?.throwIfAborted()
          if (stopped) return NOTHING
          member.began = timers.elapsed()
          member.upTo = member.newest
          member.further.clear()
          let abort = () => {}
          const timer = timers.setInterval(() => tick(member), TICK_MS)
          try {
            return await new Promise<Settled>((resolve, reject) => {
              member.waiting = { waited: 0, upTo: member.upTo, resolve, reject }
              abort = () => reject(signal?.reason as Error)
              signal?.addEventListener('abort', abort, { once: true })
              wake()
            })
          } finally {
            member.waiting = undefined
            timers.clearInterval(timer)
            signal?.removeEventListener('abort', abort)
          }
        },
        inFlight: () => inFlightOf(member).slice(0, MOST_NAMED),
        end: () => void members.delete(member),
      }
    },
    /** True while a backlog is waited for. */
    areWaitedFor: () => [...members].some(({ waiting }) => waiting !== undefined),
    /** Must be called for every commit. */
    note(writes: readonly Write[]): void {
      for (const member of members)
        for (const write of writes) {
          const created = pendingIn(write)
          if (created === undefined || created.id <= member.upTo || !isUntouched(created)) continue
          const now = timers.elapsed()
          if (now - member.opened >= LONGEST_WAIT_MS) member.late += 1
          const joins = member.late <= MOST_LATE
          if (joins && created.id > member.newest) member.newest = created.id
          if (joins && now - member.began < LONGEST_WAIT_MS) member.upTo = created.id
          else member.further.set(created.endpoint_id, (member.further.get(created.endpoint_id) ?? 0) + 1)
        }
    },
    /** Resolves the backlogs that have settled. */
    async look(): Promise<void> {
      for (const member of members) await lookAt(member)
    },
    fail(error: unknown): void {
      for (const { waiting } of members) waiting?.reject(error)
    },
    /** Resolves all backlogs: no further attempts are made. */
    stop(): void {
      stopped = true
      for (const { waiting } of members) waiting?.resolve(NOTHING)
    },
  }
}

/** False for a later write of a delivery: a retry, or an attempt that is held, offered or answered. */
function isUntouched({ attempts, held, offer }: Delivery): boolean {
  return attempts.length === 0 && held === undefined && offer === undefined
}
