import type { ClockView, PlaybackReport, PlayedAttempt } from '../model/simulator/playback.ts'
import type { MovableClock } from '../clock.ts'
import type { Attempt, Delivery, AttemptOutcome } from '../model/delivery.ts'
import { attemptedIn } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { END_OF_TIME } from '../model/simulator/settings.ts'
import { invalid } from '../model/validation.ts'
import type { Service } from '../service.ts'
import type { ClockFile } from './clock-file.ts'
import type { Backlog } from './backlog.ts'
import type { Pump } from './pump.ts'
import { createSerialQueue } from './pump-timing.ts'
import { createSharedClock, type SharedClockParts } from './shared-clock.ts'

/**
 * Moves the clock. Moves run one after another, over all instances of a sandbox. A move waits for a {@link Backlog}, so
 * that steady traffic does not keep it from ending. When `signal` aborts, the clock stays where it is, and a queued move
 * does not start.
 */
export interface ClockControls {
  /** Resolves with the clock of the sandbox at this moment. */
  show(): Promise<ClockView>
  /** Advances the clock by `ms` and attempts each delivery as it falls due. */
  advance(ms: number, signal?: AbortSignal): Promise<ClockView & PlaybackReport>
  /** Advances the clock to a time. @throws Refusal `validation_failed` when it lies in the past. */
  moveTo(time: Date, signal?: AbortSignal): Promise<ClockView & PlaybackReport>
  /** Freezes or resumes the clock at once, even during a move. */
  freeze(frozen: boolean): Promise<ClockView>
  /** Ends all moves with the refusal `state_replaced`, then runs `task` before the next move. */
  alone<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Sets the clock, also backwards, without attempts; only within `alone`. Resolves with a function that undoes it. */
  jump(to: ClockTarget): Promise<() => Promise<void>>
  /** Resolves when no move of this instance runs. Then the clock follows other instances no longer. */
  ended(): Promise<void>
}

/** Target of a clock; without a time, real time. */
export interface ClockTarget {
  time: Date | undefined
  frozen: boolean
}

interface ClockControlsSettings extends Omit<SharedClockParts, 'clock' | 'onReplaced'> {
  clock: MovableClock
  backlog: Pump['backlog']
  onCommit: Service['onCommit']
  clockFile: Pick<ClockFile, 'save'>
  isStopping: () => boolean
  /**
   * Returns the ids of deliveries that the next step of a move waits for, at most ten; by default those of this instance
   * that are in flight.
   */
  waitingFor?: (() => Promise<readonly string[]>) | undefined
}

export function createClockControls({
  clock,
  backlog,
  onCommit,
  clockFile,
  isStopping,
  waitingFor,
  ...sharing
}: ClockControlsSettings): ClockControls {
  const serially = createSerialQueue()
  let existing: Backlog | undefined
  let replacing = new AbortController()
  const endMoves = () => {
    replacing.abort(
      new Refusal('state_replaced', 'The state was replaced while the clock moved, so the move ended early.'),
    )
    replacing = new AbortController()
  }
  const shared = createSharedClock({ clock, onReplaced: endMoves, ...sharing })

  function stateAt(moving: ClockView['moving']): ClockView {
    return {
      now: clock.now().toISOString(),
      frozen: clock.isFrozen(),
      offset_ms: clock.offsetMs(),
      moving,
    }
  }

  async function show(): Promise<ClockView> {
    await shared.refresh()
    const to = shared.movingTo()
    if (to === null) return stateAt(null)
    const waiting_for = (await waitingFor?.()) ?? existing?.inFlight() ?? []
    return stateAt({ to: new Date(to).toISOString(), waiting_for })
  }

  /** Stops at each due time until its attempts are recorded, because they decide the next due time. */
  async function play(target: number, waited: Backlog, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { next_at, unrecorded } = await waited.settle(signal)
      if (isStopping()) throw new Refusal('shutting_down', `The service is shutting down. ${stoppedAt()}`)
      if (unrecorded > 0)
        throw new Refusal('storage_unavailable', `An attempt could not be recorded. ${stoppedAt()}`)
      if (clock.now().getTime() >= target) return
      await shared.step(new Date(next_at === null ? target : Math.min(Date.parse(next_at), target)))
      signal.throwIfAborted()
    }
  }

  function stoppedAt(): string {
    return `The clock stopped at ${clock.now().toISOString()}. Advance it again.`
  }

  async function move(path: 'advance' | 'to', targetFrom: (now: number) => number, signal: AbortSignal) {
    existing = await backlog()
    const lost = new AbortController()
    const ending = AbortSignal.any([signal, lost.signal])
    const onLost = () =>
      lost.abort(
        new Refusal(
          'storage_unavailable',
          `This instance could not renew its move of the clock, so another instance ended the move. ${stoppedAt()}`,
        ),
      )
    try {
      const target = await shared.begin((now) => requireAhead(path, targetFrom(now), now), {
        signal: ending,
        onLost,
      })
      // Saved before the move: after a crash the clock is at the target, and missed deliveries are due at once.
      await save(target - clock.now().getTime())
      const report = createPlaybackReport(onCommit)
      await play(target, existing, ending).finally(report.end)
      await shared.end()
      return { ...stateAt(null), ...report.result() }
    } finally {
      existing.end()
      existing = undefined
      await shared.end()
      await save()
    }
  }

  function moveSerially(path: 'advance' | 'to', targetFrom: (now: number) => number, signal?: AbortSignal) {
    const ending = AbortSignal.any([replacing.signal, ...(signal === undefined ? [] : [signal])])
    return serially(() => move(path, targetFrom, ending), ending)
  }

  /** Stores the clock as it is, or as it will be after `aheadMs`. */
  async function save(aheadMs = 0): Promise<void> {
    const standsAt = clock.isFrozen() ? clock.now().getTime() + aheadMs : undefined
    await clockFile.save(clock.offsetMs() + aheadMs, standsAt).catch((cause: unknown) => {
      const { code = 'unknown error' } = cause as NodeJS.ErrnoException
      throw new Refusal(
        'storage_unavailable',
        `Could not write clock.json (${code}). Check the disk, then try again.`,
      )
    })
  }

  return {
    show,
    advance: (ms, signal) => moveSerially('advance', (now) => now + ms, signal),
    moveTo: (time, signal) => moveSerially('to', () => time.getTime(), signal),
    async freeze(frozen) {
      const wasFrozen = clock.isFrozen()
      await shared.freeze(frozen)
      // A move saves its target, and at its end the time that it reached.
      if (shared.movingTo() === null)
        await save().catch(async (error: unknown) => {
          await shared.freeze(wasFrozen)
          throw error
        })
      return show()
    },
    alone(task, signal) {
      endMoves()
      return serially(() => shared.replacing(task, signal), signal)
    },
    async jump({ time, frozen }) {
      const before = await shared.jump(time, frozen)
      const back = async () => {
        await shared.restore(before)
        await save()
      }
      await save().catch(async (error: unknown) => {
        await shared.restore(before)
        throw error
      })
      return back
    },
    async ended() {
      // A queued move of this instance would wait for the move of another one.
      replacing.abort(new Refusal('shutting_down', `The service is shutting down. ${stoppedAt()}`))
      await serially(async () => {})
      shared.close()
    },
  }
}

function requireAhead(path: string, target: number, now: number): number {
  const past = `must not be in the past: the clock shows ${new Date(now).toISOString()} and only moves forward`
  if (target < now) throw invalid([{ path, message: past }])
  if (target < END_OF_TIME) return target
  throw invalid([{ path, message: 'must keep the clock before the year 9999' }])
}

/** Most attempts that a report lists. The deliveries hold all of them. */
const MAX_LISTED = 1_000

/** Counts the attempts that are recorded until its end. */
function createPlaybackReport(onCommit: Service['onCommit']) {
  const attempted: PlayedAttempt[] = []
  const outcomes: Partial<Record<AttemptOutcome, number>> = {}
  let total = 0
  const end = onCommit((writes, kind) => {
    if (kind === 'replacement') return
    for (const write of writes) {
      const delivery = attemptedIn(write)
      const attempt = delivery?.attempts.at(-1)
      if (delivery === undefined || attempt === undefined) continue
      total += 1
      outcomes[attempt.outcome] = (outcomes[attempt.outcome] ?? 0) + 1
      if (attempted.length < MAX_LISTED) attempted.push(entryOf(delivery, attempt))
    }
  })
  return {
    end,
    result: (): PlaybackReport => ({ attempted_total: total, outcomes, attempted: inOrder(attempted) }),
  }
}

/** Sorts by time, delivery and number, since the order in which receivers answer is random. */
function inOrder(attempted: readonly PlayedAttempt[]): PlayedAttempt[] {
  const rank = ({ at, delivery_id, attempt }: PlayedAttempt) => `${at} ${delivery_id} ${attempt}`
  return attempted.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

function entryOf(
  delivery: Delivery,
  { number, started_at, outcome, response_status }: Attempt,
): PlayedAttempt {
  const { id, event_type, endpoint_id, status } = delivery
  return {
    delivery_id: id,
    event_type,
    endpoint_id,
    attempt: number,
    at: started_at,
    outcome,
    response_status,
    status,
  }
}
