import type { Delivery } from '../model/delivery.ts'
import type { Write } from '../model/records.ts'
import type { Service } from '../service.ts'
import { timers } from '../timers.ts'

type Unfinished = Service['unfinished']

/**
 * The deliveries that are waited for: those that exist at the beginning, and those that come meanwhile, such as for what a
 * receiver pushes in turn. Under steady traffic that would never end: once {@link PATIENCE_MS} have passed and
 * {@link STEADY} new deliveries have come, further ones are attempted, and not waited for.
 */
export interface Backlog {
  /**
   * Resolves when none of its deliveries is due or in flight. Those of an endpoint to which further deliveries keep coming
   * are waited for at most {@link PATIENCE_MS}: its receiver may be too slow for them all.
   * Rejects when the store cannot tell, or with the reason of `signal`.
   */
  settle(signal?: AbortSignal): Promise<Settled>
  /** Which of its deliveries are in flight, by id: ten at most. */
  inFlight(): readonly string[]
  /** Has to be called when nobody waits any more. */
  end(): void
}

/** What there is to do when nothing of a backlog is due. */
export interface Settled {
  /** When its next delivery falls due; `null` when none waits for a time. */
  next_at: string | null
  /** How many deliveries are left alone for a while because the outcome of their attempt could not be recorded. */
  unrecorded: number
}

/** In milliseconds of real time. */
const PATIENCE_MS = 1_000
const STEADY = 5
/** As many deliveries are named to who asks what is waited for. */
const MOST_NAMED = 10

interface BacklogParts {
  /** Has `look` called soon. */
  wake: () => void
  /** The deliveries in flight, by id, with their endpoint where that is known. */
  inFlight: () => Iterable<readonly [id: string, endpointId: string | undefined]>
  unfinished: (query: Pick<Parameters<Unfinished>[0], 'upTo' | 'except'>) => ReturnType<Unfinished>
  /** How many attempts could not be recorded and are to be made again. */
  unrecorded: () => number
}

interface Waiting {
  since: number
  /** The newest delivery that there was then, by id. */
  upTo: string
  resolve: (settled: Settled) => void
  reject: (reason: unknown) => void
}

interface Member {
  began: number
  /** The newest delivery that is waited for, by id. */
  upTo: string
  /** How many have come since the beginning that are waited for. */
  joined: number
  /** The endpoints that have got further deliveries. */
  busier: Set<string>
  /** Those of them that were waited for long enough. */
  leftBehind: Set<string>
  waiting: Waiting | undefined
}

const NOTHING: Settled = { next_at: null, unrecorded: 0 }

/** All that are waited for now. */
export function createBacklogs({ wake, inFlight, unfinished, unrecorded }: BacklogParts) {
  const members = new Set<Member>()
  let stopped = false

  function inFlightOf({ upTo, leftBehind }: Member): string[] {
    const waitedFor = ([id, endpoint]: readonly [string, string | undefined]) =>
      id <= upTo && (endpoint === undefined || !leftBehind.has(endpoint))
    return [...inFlight()].filter(waitedFor).map(([id]) => id)
  }

  /** Gives up the endpoints that get further deliveries, and have not yet taken all up to this one. */
  async function leaveBehind({ busier, leftBehind }: Member, upTo: string): Promise<void> {
    const { due } = await unfinished({ upTo, except: leftBehind })
    const flying = [...inFlight()].flatMap(([id, endpoint]) => (id <= upTo ? [endpoint] : []))
    for (const endpoint of [...due, ...flying])
      if (endpoint !== undefined && busier.has(endpoint)) leftBehind.add(endpoint)
  }

  async function lookAt(member: Member): Promise<void> {
    const { waiting, leftBehind } = member
    if (waiting === undefined) return
    if (timers.elapsed() - waiting.since >= PATIENCE_MS) await leaveBehind(member, waiting.upTo)
    if (inFlightOf(member).length > 0) return
    const { due, next_at } = await unfinished({ upTo: member.upTo, except: leftBehind })
    // An attempt may have begun meanwhile, and the outcome of another may have been recorded before it was looked for.
    if (due.length === 0 && inFlightOf(member).length === 0)
      waiting.resolve({ next_at, unrecorded: unrecorded() })
  }

  return {
    /** `upTo` is the id of the newest delivery that belongs to it; empty for none. */
    open(upTo: string): Backlog {
      const member: Member = {
        began: timers.elapsed(),
        upTo,
        joined: 0,
        busier: new Set(),
        leftBehind: new Set(),
        waiting: undefined,
      }
      members.add(member)
      return {
        async settle(signal) {
          signal?.throwIfAborted()
          if (stopped) return NOTHING
          let abort = () => {}
          const timer = timers.setTimeout(wake, PATIENCE_MS)
          try {
            return await new Promise<Settled>((resolve, reject) => {
              member.waiting = { since: timers.elapsed(), upTo: member.upTo, resolve, reject }
              abort = () => reject(signal?.reason as Error)
              signal?.addEventListener('abort', abort, { once: true })
              wake()
            })
          } finally {
            member.waiting = undefined
            timers.clearTimeout(timer)
            signal?.removeEventListener('abort', abort)
          }
        },
        inFlight: () => inFlightOf(member).slice(0, MOST_NAMED),
        end: () => void members.delete(member),
      }
    },
    /** Is told of every commit. */
    note(writes: readonly Write[]): void {
      for (const member of members)
        for (const write of writes) {
          const pending = pendingIn(write)
          if (pending === undefined || pending.id <= member.upTo) continue
          if (member.joined >= STEADY && timers.elapsed() - member.began >= PATIENCE_MS)
            member.busier.add(pending.endpoint_id)
          else {
            member.upTo = pending.id
            member.joined += 1
          }
        }
    },
    /** Sees whether what is waited for is over. */
    async look(): Promise<void> {
      for (const member of members) await lookAt(member)
    },
    fail(error: unknown): void {
      for (const { waiting } of members) waiting?.reject(error)
    },
    /** Nothing is attempted any more, so nothing is waited for. */
    stop(): void {
      stopped = true
      for (const { waiting } of members) waiting?.resolve(NOTHING)
    },
  }
}

/** The delivery that a write leaves pending, if it does. */
export function pendingIn(write: Write): Delivery | undefined {
  return write.collection === 'deliveries' && 'put' in write && write.put.status === 'pending'
    ? write.put
    : undefined
}
