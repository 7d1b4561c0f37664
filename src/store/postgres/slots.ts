import { randomUUID } from 'node:crypto'
import { timers } from '../../timers.ts'
import type { Database } from './database.ts'

/** Times of the leases, in milliseconds. */
export interface LeaseTimes {
  leaseMs: number
  renewMs: number
  pollMs: number
  /** Part of a lease that must be left when an attempt begins. */
  attemptMs: number
}

/** Number of slots in the table. */
const SLOTS = 256

/** A lease as this instance knows it. A slot that was lost and taken again gets a new one. */
interface Lease {
  slot: number
  /** The clocks before the statement that took or renewed the lease; the database counts from a later time. */
  from: ClockReading
  /** `lease_until` in the database. */
  until: string
  /** True when the slot is handed over: attempts in flight end, and no further ones begin. */
  isLeaving: boolean
}

interface LeaseRow {
  slot: number
  until: string
}

/**
 * Takes this instance's share of the slots by leases in the database, and renews them until `close`. A lease belongs to one
 * instance. After `leaseMs` without renewal another instance takes it; this instance begins no attempt that may last so
 * long. No statement waits for another instance. The server's clock decides when a lease ends, so it must not be set
 * forward while instances run.
 */
export function openSlots({ schema, query }: Pick<Database, 'schema' | 'query'>, times: LeaseTimes) {
  const { leaseMs, renewMs, pollMs, attemptMs } = times
  const instance = randomUUID()
  const leases = new Map<number, Lease>()
  const inFlight = new Map<number, number>()
  const listeners = new Set<() => void>()
  const pause = createPause()
  let renewed: ClockReading | undefined
  /** True when there are leases that now allow attempts, and listeners were not called yet. */
  let hasNewLeases = false
  let isClosing = false

  const isLongEnough = ({ from }: Lease) => passedSince(from) + attemptMs < leaseMs
  const mayBegin = (lease: Lease | undefined) =>
    lease !== undefined && !isClosing && !lease.isLeaving && isLongEnough(lease)
  const countIn = ({ slot }: Lease) => inFlight.get(slot) ?? 0

  /** Adds this instance to those that share the slots. */
  async function join(): Promise<void> {
    await query(
      `INSERT INTO ${schema}.instances (id, seen_at) VALUES ($1, now()) ON CONFLICT (id) DO NOTHING`,
      [instance],
    )
  }

  /** Renews the leases that have not ended. One that has ended may belong to another instance soon, and is taken again. */
  async function renew(): Promise<void> {
    const from = readClocks()
    // Updates only: a statement that is executed late must not add an instance that has left.
    const rows = await query<{ seen: string; slot: number | null; until: string | null }>(
      `WITH seen AS (
         UPDATE ${schema}.instances SET seen_at = now() WHERE id = $1 RETURNING id
       ), dead AS (
         DELETE FROM ${schema}.instances WHERE id IN (
           SELECT id FROM ${schema}.instances WHERE id <> $1 AND seen_at < now() - $2 * interval '1 ms'
           FOR UPDATE SKIP LOCKED)
       ), mine AS (
         UPDATE ${schema}.slots SET lease_until = now() + $2 * interval '1 ms'
         WHERE owner = $1 AND lease_until > now()
         RETURNING slot, lease_until::text AS until
       )
       SELECT seen, slot, until FROM (SELECT count(*) AS seen FROM seen) AS known LEFT JOIN mine ON true`,
      [instance, leaseMs],
    )
    // At the start, and after others removed this instance because it was suspended.
    if (Number(rows[0]?.seen) === 0) await join()
    renewed = from
    const mine = new Map(
      rows.flatMap(({ slot, until }) => (slot === null || until === null ? [] : [[slot, until]])),
    )
    for (const [slot, lease] of leases) {
      const until = mine.get(slot)
      mine.delete(slot)
      if (until === undefined) leases.delete(slot)
      else {
        // It allowed no attempts while the renewal was late.
        hasNewLeases ||= !isLongEnough(lease)
        Object.assign(lease, { from, until })
      }
    }
    // Taken by a statement whose answer was lost.
    for (const [slot, until] of mine) take({ slot, until }, from)
  }

  /** Takes free slots up to this instance's share, unless it has left. Resolves with that share. */
  async function acquire(): Promise<number> {
    const from = readClocks()
    const rows = await query<{ live: string; slot: number | null; until: string | null }>(
      `WITH live AS (
         SELECT greatest(count(*), 1) AS live FROM ${schema}.instances WHERE seen_at >= now() - $2 * interval '1 ms'
       ), free AS (
         SELECT slot FROM ${schema}.slots WHERE (owner IS NULL OR lease_until < now())
         AND EXISTS (SELECT FROM ${schema}.instances WHERE id = $1 FOR KEY SHARE)
         ORDER BY slot LIMIT (SELECT greatest(0, ceil(${SLOTS}.0 / live) - $3)::bigint FROM live) FOR UPDATE SKIP LOCKED
       ), taken AS (
         UPDATE ${schema}.slots SET owner = $1, lease_until = now() + $2 * interval '1 ms' FROM free
         WHERE slots.slot = free.slot RETURNING slots.slot, lease_until::text AS until
       )
       SELECT live, slot, until FROM live LEFT JOIN taken ON true`,
      [instance, leaseMs, staying().length],
    )
    for (const { slot, until } of rows) if (slot !== null && until !== null) take({ slot, until }, from)
    return Math.ceil(SLOTS / Number(rows[0]?.live))
  }

  /** Gives up slots without attempts in flight. */
  async function release(idle: readonly Lease[]): Promise<void> {
    // Only as they were renewed last: an earlier release that comes late must not end a lease that was taken again.
    const rows = await query<{ slot: number }>(
      `UPDATE ${schema}.slots SET owner = NULL, lease_until = '-infinity'
       FROM unnest($2::integer[], $3::timestamptz[]) AS mine (slot, until)
       WHERE slots.slot = mine.slot AND owner = $1 AND lease_until = mine.until
       RETURNING slots.slot`,
      [instance, idle.map(({ slot }) => slot), idle.map(({ until }) => until)],
    )
    for (const { slot } of rows) leases.delete(slot)
  }

  /**
   * Removes this instance and frees its slots without attempts in flight, also those that it does not know of. After that,
   * a late statement of `acquire` takes no slots; a running one is waited for.
   */
  async function leave(): Promise<void> {
    await query(`DELETE FROM ${schema}.instances WHERE id = $1`, [instance])
    const busy = [...leases.values()].filter((lease) => countIn(lease) > 0).map(({ slot }) => slot)
    await query(
      `UPDATE ${schema}.slots SET owner = NULL, lease_until = '-infinity' WHERE owner = $1 AND slot <> ALL ($2::integer[])`,
      [instance, busy],
    )
    for (const slot of leases.keys()) if (!busy.includes(slot)) leases.delete(slot)
  }

  function take({ slot, until }: LeaseRow, from: ClockReading): void {
    leases.set(slot, { slot, from, until, isLeaving: false })
    hasNewLeases = true
  }

  function staying(): readonly Lease[] {
    return [...leases.values()].filter(({ isLeaving }) => !isLeaving)
  }

  /** Chooses the slots above the share to hand over, those with the fewest attempts in flight first. */
  function handOver(share: number): void {
    const all = [...staying()].sort((one, other) => countIn(one) - countIn(other))
    for (const lease of all.slice(0, Math.max(0, all.length - share))) lease.isLeaving = true
  }

  async function renewAndShare(): Promise<void> {
    for (const [slot, lease] of leases) if (passedSince(lease.from) >= leaseMs) leases.delete(slot)
    if (renewed === undefined || passedSince(renewed) >= renewMs) await renew()
    handOver(await acquire())
    if (hasNewLeases) for (const listener of listeners) listener()
    hasNewLeases = false
    const idle = [...leases.values()].filter((lease) => lease.isLeaving && countIn(lease) === 0)
    if (idle.length > 0) await release(idle)
  }

  async function run(): Promise<void> {
    while (!isClosing) {
      // Without an answer of the database, the next round tries again; meanwhile the leases end by themselves.
      await renewAndShare().catch(() => {})
      if (!isClosing) await pause.wait(pollMs * (0.75 + Math.random() / 2))
    }
    // Leaves the slots without attempts in flight, and the others when these have ended. Tries twice: when a busy server
    // answers too late, the slots would stay until their leases end.
    const isReachable = await leave()
      .catch(leave)
      .then(
        () => true,
        () => false,
      )
    if (inFlight.size === 0) return
    while (inFlight.size > 0) await pause.wait(leaseMs)
    // Without an answer of the database, the leases end by themselves.
    if (isReachable) await leave().catch(() => {})
  }

  const running = run()
  return {
    /** Name of this instance in the tables. */
    instance,
    owns: (endpointId: string) => mayBegin(leases.get(slotOf(endpointId))),
    begin(endpointId: string) {
      const slot = slotOf(endpointId)
      const lease = leases.get(slot)
      if (lease === undefined || !mayBegin(lease)) return undefined
      inFlight.set(slot, countIn(lease) + 1)
      return {
        isValid: () => leases.get(slot) === lease && isLongEnough(lease),
        end() {
          const left = countIn(lease) - 1
          if (left > 0) inFlight.set(slot, left)
          else inFlight.delete(slot)
          if (left === 0 && (isClosing || lease.isLeaving)) pause.end()
        },
      }
    },
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Number of slots of this instance. */
    count: () => leases.size,
    close(): Promise<void> {
      isClosing = true
      pause.end()
      return running
    },
  }
}

/** Returns the slot of an endpoint: its hash (FNV-1a) modulo the number of slots. All versions must agree on it. */
export function slotOf(endpointId: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < endpointId.length; at += 1)
    hash = Math.imul(hash ^ endpointId.charCodeAt(at), 0x01000193)
  return ((hash >>> 16) ^ hash) & (SLOTS - 1)
}

/** A time on both clocks of this process. */
interface ClockReading {
  elapsed: number
  real: number
}

function readClocks(): ClockReading {
  return { elapsed: timers.elapsed(), real: timers.now() }
}

/** The monotonic clock stops while a machine is suspended, and the real one may be set back: the longer time counts. */
function passedSince({ elapsed, real }: ClockReading): number {
  return Math.max(timers.elapsed() - elapsed, timers.now() - real)
}

/** A pause that can be ended early. A call of `end` outside of a pause ends the next one. */
function createPause() {
  let isEnded = false
  let resume = () => {}
  return {
    end(): void {
      isEnded = true
      resume()
    },
    async wait(ms: number): Promise<void> {
      if (!isEnded)
        await new Promise<void>((resolve) => {
          resume = resolve
          timers.setTimeout(resolve, ms).unref()
        })
      isEnded = false
    },
  }
}
