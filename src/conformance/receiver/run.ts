import { setTimeout as sleep } from 'node:timers/promises'
import { INTERRUPTED, type CaseResult } from '../report.ts'
import { type ReceiverCase, type CaseContext, isGood } from './case.ts'
import type { Forge } from './forge.ts'
import type { SendDelivery, DeliveryAnswer, Delivery, DeliveryOptions } from './send.ts'

interface Run {
  /** Time limit of an answer, in milliseconds. */
  timeoutMs: number
  /** Time from which an answer counts as slow, in milliseconds. */
  slowMs: number
  signal: AbortSignal
  begin: (one: ReceiverCase, index: number) => void
}

/** Groups whose cases can run in parallel when the receiver is slow: one case does not affect another. */
const independent: ReadonlySet<string> = new Set(['accepts', 'refuses'])

/**
 * Runs the cases group by group and in sequence, so that a case is not blamed for the effects of another. When a case
 * of the group `control` fails, no other case is checked.
 */
export async function runReceiverCases(
  cases: readonly ReceiverCase[],
  context: Omit<CaseContext, 'isSlow'>,
  { timeoutMs, slowMs, signal, begin }: Run,
): Promise<CaseResult[]> {
  const results = new Map<ReceiverCase, CaseResult>()
  const pace = createPace(context.send, context.forge, slowMs)
  const bounded = createBoundedSender(pace.send, timeoutMs, signal)
  let failedControl: ReceiverCase | undefined

  async function run(one: ReceiverCase, isSlow: boolean): Promise<void> {
    const skipped = withoutTrying(one)
    if (skipped === undefined) begin(one, cases.indexOf(one))
    const send: CaseContext['send'] = (delivery, options) => bounded.send(one, delivery, options)
    const result = skipped ?? (await examine(one, { ...context, send, isSlow }))
    results.set(one, signal.aborted ? notTried(one, INTERRUPTED) : result)
    if (one.group === 'control' && result.verdict === 'failed') failedControl ??= one
  }

  /** Returns the result of a case that is not tried; `undefined` for one to try. */
  function withoutTrying(one: ReceiverCase): CaseResult | undefined {
    if (signal.aborted) return notTried(one, INTERRUPTED)
    if (blocks(failedControl, one)) return notTried(one, referTo(failedControl))
    const lost = bounded.lost(one)
    if (lost === undefined) return undefined
    // Where the state was asked for, a receiver that is lost before it is judged is an error.
    const isError = one.group === 'converges' && context.convergence !== undefined
    return { ...notTried(one, lost), ...(isError && { verdict: 'error' }) }
  }

  for (const group of new Set(cases.map((one) => one.group))) {
    const members = cases.filter((one) => one.group === group)
    const isTried = members.some((one) => withoutTrying(one) === undefined)
    const width = isTried && independent.has(group) ? await pace.widen() : 1
    const isAlone = (one: ReceiverCase) => one.isAlone === true
    await sideBySide(
      members.filter((one) => !isAlone(one)),
      width,
      (one) => run(one, width > 1),
    )
    await sideBySide(members.filter(isAlone), 1, (one) => run(one, false))
    pace.release()
  }
  return explained(cases, results, failedControl)
}

async function sideBySide<T>(
  all: readonly T[],
  width: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values()
  const worker = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Returns the results in the order of the cases; repeated explanations are left out. */
function explained(
  cases: readonly ReceiverCase[],
  results: ReadonlyMap<ReceiverCase, CaseResult>,
  failedControl: ReceiverCase | undefined,
): CaseResult[] {
  const failed = new Map(
    [...results].filter(([, { verdict }]) => verdict === 'failed').map(([one]) => [one.id, one]),
  )
  return cases.flatMap((one) => {
    const result = results.get(one)
    if (result === undefined) return []
    const cause = one.explainedBy?.map((id) => failed.get(id)).find((other) => other !== undefined)
    if (blocks(failedControl, one) && one !== failedControl && result.detail !== INTERRUPTED)
      return [{ ...notTried(one, referTo(failedControl)), duration_ms: result.duration_ms }]
    if (result.verdict !== 'failed' || cause === undefined) return [result]
    return [{ ...notTried(one, referTo(cause)), duration_ms: result.duration_ms }]
  })
}

/** Controls that fail when valid deliveries are rejected, all or some. */
const aboutAcceptance: ReadonlySet<string> = new Set([
  'genuine_accepted',
  'delayed_accepted',
  'zeros_accepted',
])

/**
 * Returns true when a case cannot be judged since a control failed. The group `converges` is blocked only where valid
 * deliveries are rejected, because the other controls say nothing about the stored state.
 */
function blocks(control: ReceiverCase | undefined, one: ReceiverCase): control is ReceiverCase {
  return control !== undefined && (one.group !== 'converges' || aboutAcceptance.has(control.id))
}

function referTo({ group, id }: ReceiverCase): string {
  return `Not checked: see ${group}/${id}.`
}

async function examine(one: ReceiverCase, context: CaseContext): Promise<CaseResult> {
  const started = performance.now()
  const found = await one.examine(context)
  const duration_ms = Math.round(performance.now() - started)
  if (found === undefined) return { ...named(one), verdict: 'passed', detail: null, duration_ms }
  if (typeof found === 'object' && 'notChecked' in found)
    return { ...notTried(one, found.notChecked), duration_ms }
  if (typeof found === 'object' && 'error' in found)
    return { ...named(one), verdict: 'error', detail: found.error, duration_ms }
  if (typeof found === 'object' && 'passed' in found)
    return { ...named(one), verdict: 'passed', detail: found.passed, duration_ms }
  const wrong = typeof found === 'string' ? { detail: found } : found
  return { ...named(one), verdict: 'failed', ...wrong, duration_ms }
}

function notTried(one: ReceiverCase, detail: string): CaseResult {
  return { ...named(one), verdict: 'not_checked', detail, duration_ms: 0 }
}

function named({ group, id, title, basis = 'specification', reason }: ReceiverCase) {
  return { group, id, title, basis, reason }
}

/** The most requests that are sent at once. */
const WIDEST = 16

/** Answers take longer now and then. */
const LENIENCE = 1.5

/** Controls the number of parallel requests, so that a run with a slow receiver ends in reasonable time. */
interface Pace {
  send: SendDelivery
  /**
   * Measures how many requests the receiver answers in parallel without queueing, and limits requests in flight to that.
   * Returns 1 for a quick receiver.
   */
  widen(): Promise<number>
  /** Removes the limit. */
  release(): void
}

/** From `slowMs` milliseconds on an answer is slow. */
function createPace(sendNow: SendDelivery, forge: Forge, slowMs: number): Pace {
  const waiting: (() => void)[] = []
  let quickestMs = Infinity
  let inFlight = 0
  let bound = Infinity
  let measured: number | undefined

  async function measure(): Promise<number> {
    if (quickestMs < slowMs) return 1
    // By doubling: a receiver that answers one request after the other must not get a queue that delays the next cases.
    for (let width = 2; width <= WIDEST; width *= 2) {
      const started = performance.now()
      const answers = await Promise.all(Array.from({ length: width }, () => sendNow(forge.genuine())))
      const elapsedMs = performance.now() - started
      if (!answers.every(isGood)) return 1
      const atOnce = Math.floor((width * quickestMs * LENIENCE) / elapsedMs)
      if (atOnce < width) return Math.max(1, atOnce)
    }
    return WIDEST
  }

  return {
    async send(delivery, options) {
      while (inFlight >= bound) await new Promise<void>((resolve) => waiting.push(resolve))
      inFlight += 1
      const started = performance.now()
      const answer = await sendNow(delivery, options)
      quickestMs = Math.min(quickestMs, performance.now() - started)
      inFlight -= 1
      waiting.shift()?.()
      return answer
    },
    async widen() {
      measured ??= await measure()
      return (bound = measured)
    },
    release: () => (bound = Infinity),
  }
}

/**
 * After one request without an answer in the whole time, others wait this long, in milliseconds, or twice as long as the
 * slowest answer so far.
 */
const SHORT_MS = 1_000

/** After so many cases of a group without an answer, the rest of the group is not tried. */
const MOST_SILENT_CASES = 2

/** Most repetitions of a request that was answered with 429. */
const REPEATS = 3
/** The longest pause before a request is repeated, in milliseconds; three of them are within the margin of the time cases. */
const LONGEST_PAUSE_MS = 2_000

/**
 * Bounds the time that a run takes with a receiver that does not answer, or that limits the rate of requests. The answers
 * that it cannot wait for are marked `unjudged` (specification section 8: a receiver has 10 s).
 */
interface BoundedSender {
  send(one: ReceiverCase, delivery: Delivery, options?: DeliveryOptions): Promise<DeliveryAnswer>
  /** Why a case is not even tried. */
  lost(one: ReceiverCase): string | undefined
}

function createBoundedSender(send: SendDelivery, wholeMs: number, signal: AbortSignal): BoundedSender {
  const silent = new Set<ReceiverCase>()
  let slowestMs = 0
  let gone: string | undefined
  let isLimited = false

  /** Sends, and waits no longer than there is still time for. */
  async function waiting(
    one: ReceiverCase,
    delivery: Delivery,
    options?: DeliveryOptions,
  ): Promise<DeliveryAnswer> {
    const shortMs = Math.max(SHORT_MS, Math.ceil((2 * slowestMs) / 1_000) * 1_000)
    const timeoutMs = silent.size === 0 ? wholeMs : Math.min(shortMs, wholeMs)
    const started = performance.now()
    const answer = await send(delivery, { ...options, timeoutMs })
    if (!('code' in answer)) {
      slowestMs = Math.max(slowestMs, performance.now() - started)
      return answer
    }
    if (answer.code === 'ECONNREFUSED') gone ??= one.id
    if (answer.code !== 'TIMEOUT') return answer
    const [first = one] = silent
    silent.add(one)
    if (timeoutMs === wholeMs) return answer
    const unjudged = `Not checked: no response within ${timeoutMs / 1000} s. Only ${first.id}, the first case without a response, had ${wholeMs / 1000} s.`
    return { ...answer, unjudged }
  }

  return {
    async send(one, delivery, options) {
      for (let repeats = 0; ; repeats += 1) {
        const answer = await waiting(one, delivery, options)
        if (!('status' in answer) || answer.status !== 429) return answer
        if (isLimited || repeats === REPEATS) {
          isLimited = true
          return { ...answer, unjudged: 'Not checked: the receiver limits the request rate (429).' }
        }
        await sleep(pauseOf(answer.headers['retry-after']), undefined, { signal }).catch(() => undefined)
      }
    },
    lost({ id, group }) {
      if (gone !== undefined && id !== 'keeps_working')
        return `Not checked: the receiver stopped listening during ${gone}.`
      const alike = [...silent].filter((one) => one.group === group)
      if (alike.length < MOST_SILENT_CASES) return undefined
      return `Not checked: ${alike.map((one) => one.id).join(' and ')} got no response.`
    },
  }
}

function pauseOf(retryAfter: string | undefined): number {
  const seconds = Number(retryAfter ?? 1)
  return Math.min(seconds >= 0 ? seconds * 1000 : LONGEST_PAUSE_MS, LONGEST_PAUSE_MS)
}
