import { freeze, hold, moveTo, setTo, timeOf, type ClockSetting, type MovableClock } from '../clock.ts'
import type { SharedValues } from '../service.ts'
import { timers } from '../timers.ts'

export interface SharedClockParts {
  clock: MovableClock
  values: SharedValues
  /** Identifies this instance among those of the sandbox. */
  instance: string
  /** Brings the values up to date; absent in a single process, whose values always are. */
  refresh?: (() => Promise<void>) | undefined
  /** Number of replacements of all records so far. */
  generation: () => number
  /** Resolves when the other instances know the changes so far; absent in a single process. */
  untilKnown?: (() => Promise<void>) | undefined
  /** Called when another instance replaces the state, which ends all moves. */
  onReplaced: () => void
}

/** Key of the clock among the shared values. */
export const CLOCK = 'clock'

/** Milliseconds between two renewals of a move. */
const RENEWAL_MS = 1_000
/** Milliseconds without a renewal after which other instances end a move: its instance was ended or cut off. */
const EXPIRY_MS = 5_000
/** Milliseconds between two looks for changes of other instances during a lease. */
const LOOK_MS = 25

/**
 * The clock of a sandbox as a shared value. Every instance applies it in the order of the commits, so that a transaction
 * after a step is dated by that step. While the clock runs, an instance adds the offset to its own real time, so the
 * instances differ as their machines do.
 */
interface Shared extends ClockSetting {
  /** The lease of a running move, or of a replacement of the state, which excludes moves. Its stored name is `turn`. */
  turn: ClockLease | null
  /** Number of renewals so far. */
  renewals: number
  /** Number of replacements of the state so far. */
  replacements: number
  /** Setting before a replacement of the state that is in progress. Earlier versions do not write it. */
  undo?: Undo | null
}

/**
 * The setting before a replacement. It is restored when the lease of that replacement ends and the records still have this
 * generation. An instance of an earlier version that ends the lease leaves it behind.
 */
interface Undo extends Omit<ClockSetting, 'held'> {
  generation: number
  /** Number of the replacement. */
  replacements: number
}

interface ClockLease {
  instance: string
  /** Target in milliseconds since 1970; `null` for a replacement of the state. */
  to: number | null
}

/** Returns the value of a new sandbox with this setting of the clock. */
export function initialValue(setting: ClockSetting) {
  return { ...setting, turn: null, renewals: 0, replacements: 0 }
}

/** Changes the clock of the sandbox. One instance at a time holds the lease for it. */
export function createSharedClock(parts: SharedClockParts) {
  const { clock, values, instance, refresh, untilKnown, generation, onReplaced } = parts
  let now = stored(values.get(CLOCK))
  /** The lease of this instance: `lost` is called when another instance ended it; `stop` ends its renewal. */
  let own: { lost: () => void; stop: () => void } | undefined
  let cancelWatch = () => {}
  let isLooking = false
  let closed = false
  const changed = new Set<() => void>()

  function stored(value: unknown): Shared {
    return (value as Shared | undefined) ?? initialValue(clock.setting())
  }

  function change<Reply>(to: (shared: Shared) => readonly [Shared, Reply]): Promise<Reply> {
    return values.update(CLOCK, (value) => {
      const [shared, reply] = to(stored(value))
      const { turn, undo = null, ...rest } = shared
      return { value: { ...rest, turn: turn && { ...turn }, ...(undo && { undo: { ...undo } }) }, reply }
    })
  }

  /** Changes the setting of the clock. */
  const set = (to: (shared: Shared) => ClockSetting) =>
    change((shared) => [{ ...shared, ...to(shared) }, undefined])

  /** Changes the clock within the lease of this instance; has no effect when another one has ended it. */
  async function within(to: (shared: Shared) => Shared): Promise<void> {
    const isMine = await change((shared) =>
      shared.turn?.instance === instance ? [to(shared), true] : [shared, false],
    )
    if (!isMine) own?.lost()
  }

  const unfollow = values.onChange((key, value) => {
    if (key !== CLOCK) return
    const { replacements } = now
    now = stored(value)
    clock.apply(now)
    if (now.replacements > replacements && now.turn?.instance !== instance) onReplaced()
    watch()
    for (const listener of changed) listener()
  })
  clock.apply(now)
  watch()

  /**
   * Ends the lease. A clock that was set for records which have not been replaced goes as before: the instance may have ended
   * in between.
   */
  function ended(shared: Shared): Shared {
    const { undo, turn, replacements } = shared
    const isOfThisLease = turn?.to === null && undo?.replacements === replacements
    const before = isOfThisLease && undo.generation === generation() ? settingOf(undo) : {}
    return { ...withoutLease(shared), ...before, undo: null }
  }

  /** Looks more often during a lease, and ends one that its instance no longer renews. */
  function watch(): void {
    cancelWatch()
    cancelWatch = () => {}
    if (now.turn === null || closed) return
    void lookDuringLease()
    if (own !== undefined) return
    const { renewals } = now
    const end = () => {
      const isExpired = (shared: Shared) => shared.turn !== null && shared.renewals === renewals
      // While the database is away, the instance with the lease may be alive, so it gets the full time again.
      change((shared) => [isExpired(shared) ? ended(shared) : shared, undefined]).catch(watch)
    }
    const timer = timers.setTimeout(end, EXPIRY_MS).unref()
    cancelWatch = () => timers.clearTimeout(timer)
  }

  async function lookDuringLease(): Promise<void> {
    if (isLooking || refresh === undefined) return
    isLooking = true
    while (now.turn !== null && !closed) {
      // Without the database, the next look finds the changes.
      await refresh().catch(() => {})
      await timers.sleep(LOOK_MS, undefined, { ref: false })
    }
    isLooking = false
  }

  /** Acquires the lease; waits while `isFree` returns false for the current one. */
  async function acquire<Reply>(
    isFree: (lease: ClockLease | null) => boolean,
    begin: (shared: Shared) => readonly [Shared, ClockLease['to'], Reply],
    { signal, onLost }: LeaseSignals,
  ): Promise<Reply> {
    for (;;) {
      signal?.throwIfAborted()
      const { promise: next, cancel } = nextChange(signal)
      try {
        const taken = await change((shared) => {
          if (!isFree(shared.turn)) return [shared, undefined]
          const [after, to, reply] = begin(shared)
          const turn = { instance, to }
          return [{ ...after, renewals: after.renewals + 1, turn, undo: null }, { reply }]
        })
        if (taken !== undefined) {
          startRenewal(onLost)
          return taken.reply
        }
        await next
      } finally {
        cancel()
      }
    }
  }

  function startRenewal(lost: () => void): void {
    // When no renewal succeeds, another instance ends the lease.
    const renew = () =>
      void within((shared) => ({ ...shared, renewals: shared.renewals + 1 })).catch(() => {})
    const timer = timers.setInterval(renew, RENEWAL_MS).unref()
    own = { lost, stop: () => timers.clearInterval(timer) }
    watch()
  }

  /** Resolves at the next change of the clock, or when `signal` aborts. */
  function nextChange(signal: AbortSignal | undefined) {
    let cancel = () => {}
    const promise = new Promise<void>((resolve) => {
      const settle = () => resolve()
      changed.add(settle)
      signal?.addEventListener('abort', settle)
      cancel = () => {
        changed.delete(settle)
        signal?.removeEventListener('abort', settle)
      }
    })
    return { promise, cancel }
  }

  /** Ends the lease of this instance; without one, does nothing. */
  async function end(): Promise<void> {
    if (own === undefined) return
    own.stop()
    own = undefined
    try {
      await change((shared) => [shared.turn?.instance === instance ? ended(shared) : shared, undefined])
    } finally {
      // When that failed, the lease expires.
      watch()
    }
  }

  return {
    refresh: async () => refresh?.(),
    /** Target of the running move in milliseconds since 1970, if any. */
    movingTo: () => now.turn?.to ?? null,
    /**
     * Waits until no other move runs, then stops the clock for one. Resolves with the target that `targetAt` returns for
     * the time of the clock. `onLost` is called when another instance has ended the move.
     */
    begin: (targetAt: (now: number) => number, signals: LeaseSignals) =>
      acquire(
        (lease) => lease === null,
        (shared) => {
          const held = hold(shared, true)
          const target = targetAt(timeOf(held))
          return [{ ...shared, ...held }, target, target]
        },
        signals,
      ),
    /** Moves the clock forward on all instances. */
    step: (time: Date) => within((shared) => ({ ...shared, ...moveTo(shared, time) })),
    end,
    async freeze(frozen: boolean): Promise<void> {
      await set((shared) => freeze(shared, frozen))
      await untilKnown?.()
    },
    /** Sets the clock, also backwards; resolves with the earlier setting. */
    jump: (time: Date | undefined, frozen: boolean): Promise<ClockSetting> =>
      change((shared) => {
        const { replacements } = shared
        const undo = { ...settingOf(shared), generation: generation(), replacements }
        return [{ ...shared, ...setTo(shared, time, frozen), undo }, shared]
      }),
    restore: (setting: ClockSetting) => set((shared) => ({ ...shared, ...settingOf(setting) })),
    /** Ends the moves of all instances, and runs `task` while none can begin. */
    async replacing<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
      await acquire(
        (lease) => lease?.to !== null,
        (shared) => [{ ...withoutLease(shared), replacements: shared.replacements + 1 }, null, undefined],
        { signal, onLost() {} },
      )
      try {
        return await task()
      } finally {
        await end()
      }
    },
    /** Stops following the other instances. */
    close(): void {
      closed = true
      unfollow()
      cancelWatch()
    },
  }
}

interface LeaseSignals {
  /** Ends the wait for the lease. */
  signal: AbortSignal | undefined
  /** Called when another instance has ended the lease. */
  onLost: () => void
}

function settingOf({ offset_ms, stands_at, frozen }: Omit<ClockSetting, 'held'>) {
  return { offset_ms, stands_at, frozen }
}

/** Returns true when another instance replaces the state now. It sets the clock before it replaces the records. */
export function isReplacedElsewhere(values: Pick<SharedValues, 'get'>, instance: string): boolean {
  const { turn } = (values.get(CLOCK) ?? {}) as Partial<Shared>
  return turn?.to === null && turn.instance !== instance
}

function withoutLease(shared: Shared): Shared {
  return { ...shared, ...hold(shared, false), turn: null }
}
