import { typeOf } from './arrivals.ts'
import { NotChecked } from './outcome.ts'
import type { Arrival, Hook } from './receiver.ts'
import { pushText } from './pushes.ts'
import type { Item, Registered, Target } from './target.ts'

/** In seconds. */
const MINUTE = 60
export const DAY = 1440 * MINUTE

/** Specification, section 6, rule 5, in seconds. */
export const schedule = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE, DAY]

/** Each retry follows another outcome that is no 2xx. */
const failures = [500, 404, 302, 410, 429, 400, 503]

/** A retry may come this much early, as a share of its delay, when the service counts from the start of the attempt. */
const EARLY = 0.9
/** A retry may come this late: a share of its delay, and some seconds more for a service that looks at intervals. */
const LATE = [1.05, 1.15, 1.3]
const LATE_SECONDS = 30

/** How long an attempt may take to arrive after its clock has been moved there, in milliseconds. */
const ARRIVAL_MS = 1_000

/** One retry: how many attempts arrived before it was due and by the end of its time, beyond those before. */
export interface Step {
  /** In seconds, after the attempt before. */
  delay: number
  early: number
  due: number
}

export interface RetryRun extends Pick<Registered, 'secrets' | 'hook'> {
  item: Item
  /** How many deliveries the first attempt was: one, and its duplicates. */
  first: number
  /** Up to the first that is not as the schedule says. */
  steps: Step[]
  /** How many came in the three days after the last retry. */
  after: number
  /** How far the clock was moved, in seconds. */
  moved: number
}

/** Lets a delivery fail to the last retry, and moves the clock from one to the next; done once. */
export function retryRun(target: Target): Promise<RetryRun> {
  return target.once('retry run', async () => {
    // Before anything is registered: where no clock can be moved, there is nothing to see.
    await target.advance(1)
    const { hook, item, secrets } = await failing(target, failures[0] ?? 500)
    const first = hook.arrivals.length
    // The next attempt must be signed for a later second than the first.
    await pause(1_100)
    const steps: Step[] = []
    let moved = 0
    const advance = async (seconds: number) => {
      const whole = Math.max(1, Math.round(seconds))
      await target.advance(whole)
      moved += whole
    }
    let sinceAttempt = 0
    for (const [index, delay] of schedule.entries()) {
      hook.answer(failures[index + 1] ?? 503)
      const before = hook.arrivals.length
      await advance(delay * EARLY - sinceAttempt)
      await pause(target.timeouts.quietMs)
      const early = hook.arrivals.length - before
      let reached = delay * EARLY
      let last = reached
      for (const share of LATE) {
        if (hook.arrivals.length > before) break
        last = reached
        reached = delay * share + (share === LATE.at(-1) ? LATE_SECONDS : 1)
        await advance(reached - last)
        await hook.until((arrivals) => arrivals[before], ARRIVAL_MS)
      }
      await pause(target.timeouts.quietMs)
      // The attempt came between the last two looks.
      sinceAttempt = reached - last
      steps.push({ delay, early, due: hook.arrivals.length - before })
      if (early > 0 || hook.arrivals.length === before) break
    }
    const until = hook.arrivals.length
    await advance(3 * DAY)
    await pause(target.timeouts.quietMs)
    return { hook, item, secrets, first, steps, after: hook.arrivals.length - until, moved }
  })
}

/** Registers an endpoint that answers with `status`, pushes a check and waits for the first attempt. */
export async function failing(target: Target, status: number, delayMs = 0) {
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
  if (arrival === undefined) throw new NotChecked('A push to a new check caused no delivery to watch.')
  await pause(target.timeouts.quietMs)
  const types = hook.arrivals.filter(about).map(typeOf)
  const type = types.includes('check.created') ? 'check.created' : typeOf(arrival)
  return { hook: only(hook, item, type), secrets, item }
}

/** The hook as far as it concerns one event: pings and other events are not its attempts. */
function only(hook: Hook, { external_id }: Item, type: unknown): Hook {
  const about = (arrivals: readonly Arrival[]) =>
    arrivals.filter((arrival) => arrival.body.includes(external_id) && typeOf(arrival) === type)
  return {
    ...hook,
    get arrivals() {
      return about(hook.arrivals)
    },
    until: (look, ms) => hook.until((arrivals) => look(about(arrivals)), ms),
  }
}

/** Gives what is under way the time to arrive; nothing tells that nothing more will. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
