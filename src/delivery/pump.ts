import type { Clock } from '../clock.ts'
import type { Delivery } from '../model/delivery.ts'
import type { Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { Service } from '../service.ts'
import type { Deliver } from './deliver.ts'
import { createFlights, type FlightLimits } from './flights.ts'
import { createInterruptions } from './interruptions.ts'
import { oncePerTurn } from './once-per-turn.ts'
import { createRecall } from './recall.ts'
import { createRests } from './rests.ts'
import { createTurns } from './turns.ts'
import { createWaiters } from './waiters.ts'

export interface Pump {
  /** Looks for deliveries that are due. Commits and time do this by themselves. */
  wake(): void
  /**
   * Attempts a delivery at once, past the queue, and resolves with it as it was recorded. When it is in flight already,
   * resolves with what comes of that; when it is no longer pending, with what it is.
   * @throws Refusal `storage_unavailable`, `shutting_down`, or `not_found`.
   */
  attempt(deliveryId: string): Promise<Delivery>
  /** Resolves when nothing is due and nothing in flight; rejects when the store cannot tell. */
  idle(): Promise<void>
  /** The same, and tells what comes next. */
  settle(): Promise<Settled>
  /**
   * Takes back the attempts in flight, unrecorded, and starts none until `work` is done, which may put all deliveries in
   * the place of others: then looks again. What was waiting for such an attempt hears that its delivery is gone.
   */
  interrupt(work: () => Promise<void>): Promise<void>
  /** Starts nothing more, waits `graceMs` for the attempts in flight and takes the others back, unrecorded. */
  stop(options: { graceMs: number }): Promise<void>
}

/** What there is to do when nothing is due. */
export interface Settled {
  /** When the next delivery falls due; `null` when none waits for a time. */
  next_at: string | null
  /** How many deliveries are left alone for a while because the outcome of their attempt could not be recorded. */
  unrecorded: number
}

export interface PumpSettings {
  service: Pick<Service, 'due' | 'onCommit'>
  deliver: Deliver
  clock: Clock
  /** Hears of what could not be read or recorded. It is tried again. */
  onError?: (error: unknown) => void
  limits?: Partial<PumpLimits>
}

export interface PumpLimits extends FlightLimits {
  /** Attempts started in one turn of the event loop, between which API calls have theirs. */
  perTurn: number
  /** How many milliseconds to leave a store alone that failed. */
  restMs: number
}

/**
 * The head of a queue is taken up by deliveries in flight, twice as many whose bodies are read, and those that are being
 * recorded; behind them stand the next.
 */
const LOOKAHEAD = 4

const defaultLimits: PumpLimits = { perEndpoint: 8, inAll: 64, perTurn: 8, slowAfterMs: 1_000, restMs: 1_000 }

/** Takes what is due from the store and has it attempted. What an earlier run has left pending is due like anything else. */
export function createPump({ service, deliver, clock, onError = ignore, ...given }: PumpSettings): Pump {
  const limits = { ...defaultLimits, ...given.limits }
  const wake = oncePerTurn(look)
  const flights = createFlights(limits, { onRoom: wake })
  const rests = createRests({ restMs: limits.restMs, onOver: wake })
  const turns = createTurns()
  const recall = createRecall()
  const interruptions = createInterruptions()
  const idlers = createWaiters<Settled>()
  let stopped = false
  let cancelAlarm = ignore
  let lookFailed = false

  const unsubscribe = service.onCommit((writes) => {
    rests.endUnstored()
    if (lookFailed || writes.some(putsPending)) wake()
  })
  wake()

  async function look(): Promise<void> {
    if (stopped || interruptions.underWay() !== undefined) return
    // Whoever asks from now on may know of more than this look will see.
    const waiting = idlers.take()
    // What is in flight now may be recorded, and due again some time, behind the back of this look.
    const quiet = flights.none()
    const interrupted = interruptions.begun()
    try {
      const busy = { has: (id: string) => flights.has(id) || rests.has(id) }
      const full = flights.full()
      const perEndpoint = LOOKAHEAD * limits.perEndpoint
      const due = await service.due({ now: clock.now(), perEndpoint, wanted: limits.perTurn, busy, full })
      lookFailed = false
      if (stopped) return waiting.release(NOTHING)
      // What was found may be gone; after an interruption there is another look.
      if (interruptions.begun() > interrupted) return waiting.putBack()
      startInTurn(due.deliveries, due.more)
      setAlarm(due.next_at)
      if (quiet && due.deliveries.length === 0 && flights.none())
        waiting.release({ next_at: due.next_at, unrecorded: rests.count() })
      else waiting.putBack()
    } catch (error) {
      lookFailed = true
      waiting.fail(error)
      onError(error)
      lookLater()
    }
  }

  function startInTurn(due: readonly Delivery[], more: boolean): void {
    const waiting = due.filter(({ id }) => !flights.has(id))
    const chosen = turns.take(waiting, {
      room: Math.min(flights.room(), limits.perTurn),
      perEndpoint: limits.perEndpoint,
      inFlight: flights.to,
      withinShare: flights.withinShare,
    })
    for (const { id, endpoint_id } of chosen) void start(id, endpoint_id).catch(ignore)
    if (chosen.length === limits.perTurn || (more && chosen.length > 0)) wake()
  }

  function start(id: string, endpointId?: string): Promise<Delivery | undefined> {
    const attempted = flights.start(id, endpointId, (onSent) =>
      deliver(id, { signal: recall.signal(), onSent }),
    )
    attempted
      .then(
        () => rests.forget(id),
        (error: unknown) => unrecorded(id, error),
      )
      .finally(wake)
    return attempted
  }

  /** Such an attempt has not been: the delivery is attempted again (at-least-once). */
  function unrecorded(id: string, error: unknown): void {
    // A reset may take deliveries away while they are attempted.
    const gone = error instanceof Refusal && error.code === 'not_found'
    if (stopped || gone) return
    onError(error)
    rests.start(id, error)
  }

  function setAlarm(next: string | null): void {
    cancelAlarm()
    cancelAlarm = next === null ? ignore : clock.at(new Date(next), wake)
  }

  function lookLater(): void {
    cancelAlarm()
    const timer = setTimeout(wake, limits.restMs).unref()
    cancelAlarm = () => clearTimeout(timer)
  }

  const settle = async () => {
    if (stopped) return NOTHING
    wake()
    return idlers.wait()
  }

  return {
    wake,
    settle,
    async interrupt(work) {
      const alone = async () => {
        recall.now(replaced())
        await flights.ended()
        rests.stop()
        await work()
      }
      await interruptions.during(alone).finally(wake)
    },
    async attempt(deliveryId) {
      while (interruptions.underWay() !== undefined) await interruptions.underWay()
      if (stopped) throw shuttingDown()
      const delivery = await (flights.get(deliveryId) ?? start(deliveryId))
      if (delivery !== undefined) return delivery
      throw new Refusal('not_found', `There is no delivery ${deliveryId}.`)
    },
    async idle() {
      await settle()
    },
    async stop({ graceMs }) {
      stopped = true
      unsubscribe()
      cancelAlarm()
      rests.stop()
      idlers.release(NOTHING)
      await recall.after(graceMs, flights.ended(), shuttingDown())
    },
  }
}

/** What a pump has to do that is stopped. */
const NOTHING: Settled = { next_at: null, unrecorded: 0 }

function putsPending(write: Write): boolean {
  return write.collection === 'deliveries' && 'put' in write && write.put.status === 'pending'
}

function shuttingDown(): Refusal {
  return new Refusal(
    'shutting_down',
    'The service is stopping; the delivery is attempted again when it is back.',
  )
}

function replaced(): Refusal {
  return new Refusal(
    'not_found',
    'The delivery is gone: the state of the service was replaced while it was attempted.',
  )
}

function ignore(): void {}
