import { setTimeout as sleep } from 'node:timers/promises'
import {
  eventCount,
  eventIdOf,
  isGenuine,
  signatureOf,
  eventTypeOf,
  type Arrival,
  type Hook,
} from './receiver.ts'
import { rulesOf, type ContractCase } from './case.ts'
import { Broken, ifPossible, must, NotChecked } from './outcome.ts'
import { firstEvent } from './events.ts'
import type { Registered, Target } from './target.ts'
import type { Item } from './trial-checks.ts'
import { pushText } from './pushes.ts'
import { count } from '../../model/text/count.ts'

const SCHEDULE = 'section 6, rule 5: 1 minute, 5 minutes, 30 minutes, 2 hours, 8 hours, 24 hours'

const rule = rulesOf('retries', retried)

/** @throws Broken when not even the first retry came, so that there is nothing to look at. */
async function retried(target: Target): Promise<void> {
  const { hook, first } = await retryRun(target)
  must(hook.arrivals.length > first, 'No retry arrived.')
}

/**
 * Specification, section 6, rules 2, 4 and 5. They take 35 hours, so they are checked where the clock can be moved. Elsewhere
 * the first retry is, after its minute.
 */
export const retries: readonly ContractCase[] = [
  rule(
    'schedule',
    'a failed delivery is retried on the schedule',
    SCHEDULE,
    async (target) => {
      const { steps } = await retryRun(target)
      const wrong = steps.findIndex(isOffSchedule)
      const step = steps[wrong]
      if (step === undefined && steps.length < schedule.length)
        throw new NotChecked(`The first retry arrived after a minute. ${LATER_RETRIES}`)
      if (step === undefined) return
      const which = `Retry ${wrong + 1}, due ${words(step.delay)} after ${answerBefore(wrong)},`
      throw new Broken(
        step.early > 0
          ? `${which} arrived more than 10% too early.`
          : `${which} did not arrive within ${words(step.waited)}.`,
      )
    },
    firstEvent,
  ),
  rule(
    'last',
    'no attempt follows the last retry',
    'section 6, rule 5: then the delivery is marked dead',
    async (target) => {
      requireClock(target)
      const { steps, after } = await retryRun(target)
      if (steps.length < schedule.length || steps.some(isOffSchedule))
        throw new NotChecked('The earlier retries did not follow the schedule.')
      must(after === 0, `${count(after, 'more attempt')} arrived in the following three days.`)
    },
  ),
  {
    ...rule(
      'same_body',
      'every attempt has the same bytes',
      'section 6, rule 2: receivers deduplicate on the envelope id',
      async (target) => {
        const { hook } = await retryRun(target)
        const [first] = hook.arrivals
        const other = hook.arrivals.findIndex(({ body }) => first !== undefined && !body.equals(first.body))
        must(other < 0, `The bytes of attempt ${other + 1} differ from the first.`)
      },
    ),
    basis: 'advice',
  },
  rule(
    'same_id',
    'every attempt has the same event id',
    'section 6, rule 2: receivers deduplicate on the envelope id',
    async (target) => {
      const { hook } = await retryRun(target)
      const [first] = hook.arrivals
      if (first === undefined || eventIdOf(first) === undefined)
        throw new NotChecked('The envelope has no id.')
      must(eventCount(hook.arrivals) === 1, 'A retry has a different event id.')
    },
  ),
  rule(
    'signed',
    'every attempt is signed with its own time',
    'section 5: every delivery carries the signature, and t is within the tolerance',
    async (target) => {
      const { hook, secrets, first, moved } = await retryRun(target)
      if (secrets.length === 0) throw new NotChecked('The registration returned no secret.')
      const isSigned = (arrival: Arrival | undefined, by: readonly string[]) =>
        arrival !== undefined && isGenuine(arrival, by, target.serviceName)
      const other = await ifPossible(firstEvent(target))
      if (other === undefined || !isSigned(other.arrival, other.secrets))
        throw new NotChecked('First attempts are also not signed correctly.')
      must(isSigned(hook.arrivals[0], secrets), 'The signature of the first attempt does not match.')
      const times = hook.arrivals.map((arrival) => Number(signatureOf(arrival, target.serviceName).t))
      for (const [index, arrival] of hook.arrivals.slice(first).entries()) {
        const retry = `retry ${index + 1}`
        must(isSigned(arrival, secrets), `The signature of ${retry} does not match.`)
        const t = times[first + index] ?? 0
        must(t !== times[0], `The t of ${retry} is the t of the first attempt.`)
        const arrivedAt = arrival.at / 1000
        const isTimely = t > arrivedAt - 300 && t < arrivedAt + moved + 300
        must(isTimely, `The t of ${retry}, ${t}, is outside the tolerance.`)
      }
    },
  ),
  rule(
    'post',
    'every attempt is a POST',
    'section 6, rule 1: each delivery is an HTTP POST',
    async (target) => {
      const { hook } = await retryRun(target)
      const methods = hook.arrivals.map(({ method }) => method)
      if (methods[0] !== 'POST') throw new NotChecked('The first attempt is also not a POST.')
      const wrong = methods.findIndex((method) => method !== 'POST')
      must(wrong < 0, `Attempt ${wrong + 1} arrived as ${methods[wrong]}.`)
    },
  ),
  rule(
    'success_ends',
    'no attempt follows a 2xx response',
    'section 6, rule 4: any other outcome triggers a retry',
    async (target) => {
      requireClock(target)
      const atFirst = await ifPossible(responding(target, 204))
      const beforeMoves = atFirst?.hook.arrivals.length ?? 0
      const { hook } = await responding(target, 500)
      hook.answer(204)
      const first = hook.arrivals.length
      await target.advance(2 * 60)
      const started = performance.now()
      await hook.until((arrivals) => arrivals[first])
      const waitedMs = performance.now() - started
      await sleep(target.timeouts.quietMs)
      const until = hook.arrivals.length
      if (until === first) throw new NotChecked('The first retry did not arrive.')
      await target.advance(2 * DAY)
      await sleep(quietAfter(target, waitedMs))
      const more = hook.arrivals.length - until
      must(more === 0, `${count(more, 'more attempt')} arrived after a 2xx.`)
      const again = (atFirst?.hook.arrivals.length ?? 0) - beforeMoves
      must(again === 0, `${count(again, 'more attempt')} arrived after a 2xx to the first attempt.`)
    },
  ),
  rule(
    'slow_answer',
    'a response within 10 seconds is a success, a later one a failure',
    'section 6, rule 4: answers with a 2xx status within 10 seconds',
    async (target) => {
      if (!target.slow) throw new NotChecked('This case takes half a minute. Pass --slow.')
      requireClock(target)
      must((await attemptsAnsweredAfter(target, 8_000)) === 1, 'A 2xx after 8 s was retried.')
      must((await attemptsAnsweredAfter(target, 11_500)) > 1, 'A 2xx after 11.5 s was not retried.')
    },
  ),
  rule(
    'disabling',
    'an endpoint that fails many deliveries in a row is disabled',
    'section 6, rule 6: the number is not defined',
    () =>
      Promise.reject(
        new NotChecked('The specification does not define how many failed deliveries disable an endpoint.'),
      ),
  ),
]

/**
 * Returns the number of attempts of one delivery when each is answered 204 after this delay; duplicates do not count.
 */
async function attemptsAnsweredAfter(target: Target, delayMs: number): Promise<number> {
  const { hook } = await responding(target, 204, delayMs)
  // A retry is answered at once, since moving the clock may wait for it.
  hook.answer(204)
  const first = hook.arrivals.length
  await sleep(delayMs + 1_500)
  await target.advance(2 * 60)
  const retry = await hook.until((arrivals) => arrivals[first])
  return retry === undefined ? 1 : 2
}

/** `5 minutes`, `2.6 hours`. */
function words(seconds: number): string {
  const [size, unit] = seconds < 3600 ? [60, 'minute'] : [3600, 'hour']
  return count(Math.round((10 * seconds) / size) / 10, unit)
}

/** In seconds. */
const MINUTE = 60
const DAY = 1440 * MINUTE

/** Specification, section 6, rule 5, in seconds. */
const schedule = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE, DAY]

/** Each retry fails in another way; `null` is a connection that ends without a response. */
const failures = [404, 302, null, 410, 429, 503]

/** What the receiver answered to the attempt before a retry: a service may take some failures for successes. */
function answerBefore(retry: number): string {
  const status = retry === 0 ? FIRST_STATUS : failures[retry - 1]
  return typeof status === 'number'
    ? `the response ${status}`
    : 'a connection that was closed without a response'
}

/** The answer to the first attempt. */
const FIRST_STATUS = 500

/** Share of the delay before which an attempt is too early: a service may count from the start of the attempt. */
const EARLY = 0.9
/** A retry may come this late: a share of its delay, and some seconds more for a service that looks at intervals. */
const LATE = [1.05, 1.15, 1.3]
const LATE_SECONDS = 30

/** How far the clock of a service may be from that of this machine after a move, in seconds: moves are whole seconds. */
const CLOCK_SECONDS = 1

/**
 * Time limit for an attempt to arrive after its clock has reached it, in milliseconds. The last look has the time limit of
 * events.
 */
const ARRIVAL_MS = 1_000

/** Time for a forbidden attempt to arrive, in milliseconds: twice the wait for a retry of this service. */
function quietAfter({ timeouts }: Pick<Target, 'timeouts'>, waitedMs: number): number {
  return Math.max(timeouts.quietMs, 2 * Math.min(waitedMs, timeouts.eventMs))
}

/** One retry: how many attempts arrived before it was due and by the end of its time, beyond those before. */
interface Step {
  /** In seconds, after the attempt before. */
  delay: number
  early: number
  due: number
  /** In seconds, until the attempt arrived or was given up. */
  waited: number
}

function isOffSchedule({ early, due }: Step): boolean {
  return early > 0 || due === 0
}

interface RetryRun extends Pick<Registered, 'secrets' | 'hook'> {
  /** Number of deliveries of the first attempt: one, and its duplicates. */
  first: number
  /** Up to the first that is not as the schedule says. */
  steps: Step[]
  /** Number of attempts in the three days after the last retry. */
  after: number
  /** Distance that the clock was moved, in seconds. */
  moved: number
}

const LATER_RETRIES =
  'The later ones take 35 hours. Describe the request that moves the clock with --profile (clock).'

function hasClock({ profile }: Target): boolean {
  return profile.clock !== undefined
}

/** @throws NotChecked where no clock can be moved. */
function requireClock(target: Target): void {
  if (!hasClock(target)) throw new NotChecked(`Only the first retry was waited for. ${LATER_RETRIES}`)
}

/**
 * Lets a delivery fail to the last retry, and moves the clock from one to the next; done once. Where no clock can be moved, it
 * waits for the first retry, with `--slow`.
 */
function retryRun(target: Target): Promise<RetryRun> {
  return target.once('retry run', async () => {
    const isMoved = hasClock(target)
    if (!isMoved && !target.slow)
      throw new NotChecked(
        'Retries take 35 hours. Describe the request that moves the clock with --profile (clock), or pass --slow to wait for the first one.',
      )
    // Before anything is registered: a clock that cannot be moved shows nothing.
    if (isMoved) await target.advance(1)
    const { retryMs } = target.timeouts
    const delays = isMoved ? schedule : [retryMs / 1000]
    const lateSeconds = isMoved ? LATE_SECONDS : retryMs / 2000
    const { hook, secrets } = await responding(target, FIRST_STATUS)
    const first = hook.arrivals.length
    // The next attempt must be signed for a later second than the first.
    if (isMoved) await sleep(1_100)
    const steps: Step[] = []
    let moved = 0
    /** The longest wait for a retry that arrived, in milliseconds. */
    let waitedMs = 0
    const advance = async (seconds: number) => {
      if (!isMoved) return sleep(seconds * 1000, undefined, { ref: false })
      const whole = Math.max(1, Math.round(seconds))
      await target.advance(whole)
      moved += whole
    }
    let sinceAttempt = 0
    for (const [index, delay] of delays.entries()) {
      hook.answer(failures[index] ?? null)
      const before = hook.arrivals.length
      await advance(delay * EARLY - sinceAttempt)
      await sleep(target.timeouts.quietMs)
      const sinceBefore = ({ at }: Arrival) => (at - (hook.arrivals[before - 1]?.at ?? at)) / 1000
      // The clock moves by itself, too: while a slow service answers, a retry may become due.
      const isEarly = (arrival: Arrival) =>
        isMoved
          ? delay * EARLY + sinceBefore(arrival) < delay - CLOCK_SECONDS
          : sinceBefore(arrival) < delay * EARLY
      const early = hook.arrivals.slice(before).filter(isEarly).length
      let reached = delay * EARLY
      let last = reached
      for (const share of LATE) {
        if (hook.arrivals.length > before) break
        last = reached
        const isLast = share === LATE.at(-1)
        reached = delay * share + (isLast ? lateSeconds : 1)
        await advance(reached - last)
        const started = performance.now()
        const retry = await hook.until(
          (arrivals) => arrivals[before],
          isLast ? target.timeouts.eventMs : ARRIVAL_MS,
        )
        if (retry !== undefined) waitedMs = Math.max(waitedMs, performance.now() - started)
      }
      await sleep(target.timeouts.quietMs)
      // The attempt came between the last two looks.
      sinceAttempt = reached - last
      const step = { delay, early, due: hook.arrivals.length - before, waited: reached }
      steps.push(step)
      if (isOffSchedule(step)) break
    }
    const until = hook.arrivals.length
    if (isMoved) {
      await advance(3 * DAY)
      await sleep(quietAfter(target, waitedMs))
    }
    return { hook, secrets, first, steps, after: hook.arrivals.length - until, moved }
  })
}

/** Registers an endpoint that answers with `status`, pushes a check and waits for the first attempt. */
async function responding(target: Target, status: number, delayMs = 0) {
  const endpoint = await target.register('check.created', 'check.updated')
  if (endpoint.isUnreachable)
    throw new NotChecked('The service refuses the address of this receiver. Pass --receiver-url.')
  const { hook, secrets } = endpoint
  hook.answer(status, delayMs)
  const check = target.freshCheck()
  const { item } = await pushText(target, check)
  const about = ({ body }: Arrival) => body.includes(item.external_id)
  const arrival = await hook.until((arrivals) => arrivals.find(about))
  // Which operation causes an event is not shown, so a push need not.
  if (arrival === undefined) throw new NotChecked('A push of a new check caused no delivery.')
  await sleep(target.timeouts.quietMs)
  const types = hook.arrivals.filter(about).map(eventTypeOf)
  const type = types.includes('check.created') ? 'check.created' : eventTypeOf(arrival)
  return { hook: only(hook, item, type), secrets }
}

/** The hook as far as it concerns one event: pings and other events are not its attempts. */
function only(hook: Hook, { external_id }: Item, type: unknown): Hook {
  const about = (arrivals: readonly Arrival[]) =>
    arrivals.filter((arrival) => arrival.body.includes(external_id) && eventTypeOf(arrival) === type)
  return {
    ...hook,
    get arrivals() {
      return about(hook.arrivals)
    },
    until: (look, ms) => hook.until((arrivals) => look(about(arrivals)), ms),
  }
}
