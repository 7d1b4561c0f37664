import type { Clock } from '../clock.ts'
import type { Delivery } from '../model/delivery.ts'
import { pendingIn, type Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { deliveryNotFound } from '../operations/offer-attempt.ts'
import type { Service } from '../service.ts'
import type { Deliver } from './deliver.ts'
import { createInFlight, type InFlightLimits } from './in-flight.ts'
import { createExclusiveSection, coalesce, createAborts, createRetryBackoff } from './pump-timing.ts'
import { createBacklogs, type Backlog, type Settled } from './backlog.ts'
import { NotOwner, type Slots } from './slots.ts'
import { timers } from '../timers.ts'

export interface Pump {
  /** Looks for due deliveries. Commits and the clock do so without this call. */
  wake(): void
  /**
   * Attempts a delivery at once, bypassing the queue, and resolves with the recorded delivery. When it is in flight, waits
   * for that attempt; when it is no longer pending, resolves with it unchanged. When another instance owns its endpoint,
   * waits for the attempt of that instance.
   * @throws Refusal `storage_unavailable`, `shutting_down`, or `not_found`.
   */
  attempt(deliveryId: string): Promise<Delivery>
  /** Returns the backlog of the deliveries that exist now; callers must `end` it. Rejects when the store fails. */
  backlog(): Promise<Backlog>
  /** Waits for a backlog once. Also rejects with the reason of `signal`. */
  idle(signal?: AbortSignal): Promise<Settled>
  /**
   * Aborts the attempts in flight without recording them, and starts none until `work` has ended, which may replace all
   * deliveries. Callers that wait for an aborted attempt get the refusal `not_found`.
   */
  interrupt(work: () => Promise<void>): Promise<void>
  /** Starts no further attempts, waits `graceMs` for those in flight and aborts the rest without recording them. */
  stop(options: { graceMs: number }): Promise<void>
}

interface PumpSettings {
  service: Pick<Service, 'due' | 'get' | 'list' | 'onCommit' | 'unfinished'>
  deliver: Deliver
  clock: Clock
  /** Endpoints that this instance delivers to. Default: all. They are closed with the pump. */
  slots?: Slots | undefined
  /** Milliseconds that one request of an attempt takes at most. */
  requestMs: number
  /** Called when deliveries could not be read or an attempt not recorded; both are retried. */
  onError?: (error: unknown) => void
  limits?: Partial<PumpLimits>
}

export interface PumpLimits extends InFlightLimits {
  /** Attempts started in one turn of the event loop, so that API calls run in between. */
  perTurn: number
  /** First backoff in milliseconds after the store failed. */
  backoffMs: number
}

/**
 * How far to look into the queue of an endpoint, as a multiple of `perEndpoint`: its head holds deliveries in flight, up to
 * twice as many whose bodies are being read, and those being recorded.
 */
const LOOKAHEAD = 4

/** Milliseconds for an attempt of another instance beside its timeouts: its wait in the queue, and the report of its outcome. */
const ELSEWHERE_MS = 4_000

/** Milliseconds to leave the slots of aborted attempts to other instances. */
const LEAVING_MS = 500

const defaultLimits: PumpLimits = {
  perEndpoint: 8,
  inAll: 64,
  perTurn: 8,
  slowAfterMs: 1_000,
  backoffMs: 1_000,
}

/** Takes due deliveries from the store and attempts them, including those that an earlier run left pending. */
export function createPump(settings: PumpSettings): Pump {
  const { service, deliver, clock, slots, requestMs, onError = () => {}, ...given } = settings
  /** For an attempt of another instance. */
  const waitMs = requestMs + ELSEWHERE_MS
  const limits = { ...defaultLimits, ...given.limits }
  const wake = coalesce(look)
  const inFlight = createInFlight(limits, { onCapacity: wake })
  const backoff = createRetryBackoff({ backoffMs: limits.backoffMs, onOver: wake })
  const aborts = createAborts()
  const exclusive = createExclusiveSection()
  const isBusy = (id: string) => inFlight.has(id) || backoff.has(id)
  let stopped = false
  let alarm: { at: string; cancel: () => void } | undefined
  let retry: NodeJS.Timeout | undefined
  let lookFailed = false
  /** Number of callers that wait for an attempt of another instance. */
  let elsewhere = 0

  const backlogs = createBacklogs({
    wake,
    inFlight: inFlight.all,
    isSlow: inFlight.isSlow,
    unfinished: (query) => service.unfinished({ ...query, now: clock.now(), isBusy }),
    unrecorded: backoff.count,
  })

  const unsubscribe = service.onCommit((writes, kind) => {
    const pending = writes.flatMap((write) => pendingIn(write) ?? [])
    if (backlogs.members.size > 0) backlogs.note(writes)
    // Outside of an exclusive section, another instance has replaced the records.
    if (kind === 'replacement' && exclusive.underWay === undefined) {
      aborts.now(replaced())
      backoff.clear()
    } else for (const delivery of pending) if (delivery.event_type === 'ping') startPing(delivery)
    if (kind === 'replacement' || lookFailed || pending.length > 0) wake()
    else if (backlogs.members.size > 0 && backlogs.areWaitedFor() && writes.some(isByAnother)) wake()
  })
  const unsubscribeSlots = slots?.onChange(wake)
  wake()

  /** Attempts a new ping at once, also a ping that was requested at another instance. */
  function startPing({ id, endpoint_id }: Delivery): void {
    if (exclusive.underWay !== undefined || inFlight.has(id) || slots?.owns(endpoint_id) === false) return
    void start(id)
  }

  /**
   * True for a write of a delivery that is not in flight here. The end of such a delivery does not wake the pump otherwise.
   */
  function isByAnother(write: Write): boolean {
    return write.collection === 'deliveries' && !inFlight.has('put' in write ? write.put.id : write.remove)
  }

  async function look(): Promise<void> {
    if (stopped || exclusive.underWay !== undefined) return
    const sectionsBefore = exclusive.begun
    try {
      const isFull = inFlight.withoutCapacity()
      const due = await service.due({
        now: clock.now(),
        perEndpoint: LOOKAHEAD * limits.perEndpoint,
        wanted: limits.perTurn,
        isBusy,
        isFull: slots === undefined ? isFull : (endpoint) => !slots.owns(endpoint) || isFull(endpoint),
      })
      lookFailed = false
      if (stopped) return
      // An exclusive section may have replaced these deliveries; it wakes the pump when it ends.
      if (exclusive.begun > sectionsBefore) return
      const waiting = due.deliveries.filter(({ id }) => !inFlight.has(id))
      const chosen = inFlight.choose(waiting, limits.perTurn)
      for (const delivery of chosen) void start(delivery.id, delivery)
      if (chosen.length === limits.perTurn || (due.more && chosen.length > 0)) wake()
      setAlarm(due.next_at)
      if (backlogs.members.size > 0) await backlogs.look()
    } catch (error) {
      lookFailed = true
      backlogs.fail(error)
      onError(error)
      lookAfterBackoff()
    }
  }

  /** Starts an attempt. Handles its rejection, so that callers need not wait for the result. */
  function start(id: string, due?: Delivery): Promise<Delivery | undefined> {
    const attempted = inFlight.start(id, due?.endpoint_id, (onSent) => attemptHere(id, due, onSent))
    attempted
      .then(
        // Commits of other instances do not show that those of this one succeed.
        () => backoff.recorded(id),
        (error: unknown) => handleUnrecorded(id, error),
      )
      .finally(wake)
    return attempted
  }

  /** Attempts a delivery; one without `due` also before it is due. @throws NotOwner */
  async function attemptHere(id: string, due: Delivery | undefined, onSent: () => void) {
    const signal = aborts.signal
    const seen = due ?? (await service.get('deliveries', id))
    if (seen === undefined) return undefined
    // Comes first: `deliver` then reads what the last owner wrote.
    const permit = slots?.begin(seen.endpoint_id)
    if (slots !== undefined && permit === undefined) throw new NotOwner(seen.attempts.length)
    try {
      const onlyDue = due !== undefined
      return await deliver(seen, { signal, onSent, mayBegin: permit?.isValid, onlyDue })
    } finally {
      permit?.end()
    }
  }

  /** Resolves when the delivery has more than `attempts` attempts, or has ended. */
  function attemptedElsewhere(id: string, attempts: number): Promise<Delivery> {
    return new Promise((resolve, reject) => {
      const signal = aborts.signal
      const end = () => {
        forget()
        timers.clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      const fail = (error: Error) => {
        end()
        reject(error)
      }
      const abort = () => fail(signal.reason as Error)
      const settleIfAttempted = (delivery: Delivery) => {
        if (delivery.status === 'pending' && delivery.attempts.length <= attempts) return
        end()
        resolve(delivery)
      }
      const forget = service.onCommit((writes) => {
        for (const write of writes)
          if (write.collection === 'deliveries')
            if ('put' in write && write.put.id === id) settleIfAttempted(write.put)
            else if ('remove' in write && write.remove === id) fail(deliveryNotFound(id))
      })
      const timer = timers.setTimeout(() => fail(notReported(id, waitMs)), waitMs).unref()
      signal.addEventListener('abort', abort)
      service
        .get('deliveries', id)
        .then((now) => (now === undefined ? fail(deliveryNotFound(id)) : settleIfAttempted(now)), fail)
    })
  }

  /** Backs off; the delivery is attempted again (at-least-once). */
  function handleUnrecorded(id: string, error: unknown): void {
    // A reset may remove deliveries while they are attempted.
    const gone = error instanceof Refusal && error.code === 'not_found'
    if (stopped || gone || error instanceof NotOwner) return
    onError(error)
    backoff.start(id, error)
  }

  /**
   * Wakes the pump at a time, unless it wakes earlier. An alarm stays when its delivery is no longer scheduled: that change may
   * not be durable yet, and be undone.
   */
  function setAlarm(at: string | null): void {
    if (at === null || (alarm !== undefined && alarm.at <= at)) return
    alarm?.cancel()
    // A program's own clock may run the task at once.
    const next = { at, cancel: () => {} }
    alarm = next
    next.cancel = clock.at(new Date(at), () => {
      if (alarm === next) alarm = undefined
      wake()
    })
  }

  function lookAfterBackoff(): void {
    timers.clearTimeout(retry)
    retry = timers.setTimeout(wake, limits.backoffMs).unref()
  }

  const backlog = async () => {
    const { data } = await service.list('deliveries', { order: 'desc', limit: 1 })
    return backlogs.open(data[0]?.id ?? '')
  }

  return {
    wake,
    backlog,
    async idle(signal) {
      const existing = await backlog()
      return existing.settle(signal).finally(existing.end)
    },
    async interrupt(work) {
      const alone = async () => {
        aborts.now(replaced())
        await inFlight.ended()
        backoff.clear()
        await work()
      }
      await exclusive.during(alone).finally(wake)
    },
    async attempt(deliveryId) {
      while (exclusive.underWay !== undefined) await exclusive.underWay
      if (stopped) throw shuttingDown()
      const attempted = inFlight.get(deliveryId) ?? start(deliveryId)
      const delivery = await attempted.catch((error: unknown) => {
        if (!(error instanceof NotOwner)) throw error
        elsewhere += 1
        return attemptedElsewhere(deliveryId, error.attempts).finally(() => (elsewhere -= 1))
      })
      if (delivery !== undefined) return delivery
      throw deliveryNotFound(deliveryId)
    },
    async stop({ graceMs }) {
      stopped = true
      unsubscribe()
      unsubscribeSlots?.()
      alarm?.cancel()
      timers.clearTimeout(retry)
      backoff.clear()
      backlogs.stop()
      // The slots of aborted attempts are left after these. Without an answer of the database, the leases end by themselves.
      const longest = timers.sleep(graceMs + LEAVING_MS, undefined, { ref: false })
      const left = slots && Promise.race([slots.close(), longest])
      await aborts.after(graceMs, inFlight.ended(), shuttingDown())
      // Aborts only when a caller waits: Node keeps an aborted signal, and with it the pump, in memory.
      if (elsewhere > 0) aborts.now(shuttingDown())
      await left
    },
  }
}

function notReported(deliveryId: string, waitMs: number): Refusal {
  return new Refusal(
    'storage_unavailable',
    `Another instance attempts delivery ${deliveryId}, and reported no outcome within ${waitMs / 1000} s. Show the delivery later.`,
  )
}

function shuttingDown(): Refusal {
  return new Refusal(
    'shutting_down',
    'The service is shutting down. The delivery is attempted after the next start.',
  )
}

function replaced(): Refusal {
  return new Refusal('not_found', 'The delivery no longer exists: the state was replaced during the attempt.')
}
