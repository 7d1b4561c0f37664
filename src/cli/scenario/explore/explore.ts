import type { Client } from '../../../client.ts'
import type { Agreement } from '../../../conformance/receiver/agreement.ts'
import { NotJudged } from '../../../conformance/receiver/convergence/state-view.ts'
import { createPlayer } from '../play.ts'
import { referredTo, type Scenario, type Step } from '../schema.ts'
import type { History } from './history.ts'
import { Ledger, type Planned, type Taken, Violation, type ViolationCode } from './ledger.ts'
import { kindsOfMoves, type Move, movesOf, pushGiven } from './moves.ts'

export interface Exploration {
  /** Number of runs, without those that shrink a counterexample. */
  runs: number
  seed: number
  /** True after Ctrl-C. */
  interrupted: boolean
  /** Paths of the receiver's view that were compared. */
  compared: readonly string[]
  counterexample: Counterexample | null
}

interface ExploreOptions {
  /** A service in memory, whose clock stands still. */
  client: Client
  histories: readonly History[]
  orderBy: string
  /** The receiver's view; it has learnt its examples. Absent without a receiver. */
  agreement: Agreement | undefined
  runs: number
  /** The same seed tries the same runs. */
  seed: number
  signal: AbortSignal
  tell: (text: string) => void
}

/** Most moves of a run. */
const MOVES = 20
/** Most checks of a run. */
const CHECKS = 2
/** A counterexample of at most so many steps ends the search. */
const SHORT_STEPS = 5
/** Most counterexamples to find; the shortest one is the result. */
const MOST_FAILURES = 4
/** A difference at the receiver must last so long to be a counterexample, in milliseconds. */
const CONFIRM_MS = 1_500
/** Most counterexamples that do not last. */
const DISMISSALS = 3

/** After this long, in milliseconds, a counterexample is not shrunk further. */
const SHRINK_MS = 60_000

interface Failure {
  violation: Violation
  steps: readonly Taken[]
}

/**
 * Plays random runs against the service, and against the receiver if there is one, until one breaks an invariant. Shrinks
 * that run to the fewest steps.
 * @throws NotJudged when the receiver's view cannot be read, or changes long after its deliveries.
 */
export async function explore(parts: ExploreOptions): Promise<Exploration> {
  const { agreement, seed, signal, tell } = parts
  const compared = agreement?.paths() ?? []
  let runs = 0
  const result = (counterexample: Counterexample | null): Exploration => ({
    runs,
    seed,
    interrupted: signal.aborted,
    compared,
    counterexample,
  })
  for (let dismissed = 0; dismissed < DISMISSALS; dismissed += 1) {
    const timeoutMs = dismissed === 0 ? undefined : CONFIRM_MS
    const failure = await search({ ...parts, timeoutMs, onRun: (run) => (runs = run) })
    if (failure === undefined) return result(null)
    tell('confirming the counterexample')
    // After Ctrl-C there is no time for it.
    const lasting = signal.aborted
      ? failure
      : await replay(parts, failure.steps, CONFIRM_MS).catch((error: unknown) => {
          if (signal.aborted) return failure
          throw error
        })
    if (lasting !== undefined) return result(counterexampleOf(lasting.violation, lasting.steps, seed))
  }
  throw new NotJudged(
    'The view at --state-url often changes long after the deliveries, so runs cannot be compared.',
  )
}

/** Plays random runs. Returns the shortest of the first ones that break an invariant, shrunk. */
async function search(
  parts: ExploreOptions & { timeoutMs: number | undefined; onRun: (run: number) => void },
): Promise<Failure | undefined> {
  const { histories, agreement, orderBy, seed, signal, tell, onRun, timeoutMs } = parts
  const fc = await import('fast-check')
  const kinds = kindsOfMoves({ orderBy, hasReceiver: agreement !== undefined })
  const moves = fc.commands(movesOf(fc, kinds), { maxCommands: MOVES, size: 'max' })
  const places = fc.uniqueArray(fc.nat(histories.length - 1), { minLength: 1, maxLength: CHECKS })
  // In each run, about half of the kinds are left out: many mistakes show only where another act does not interfere.
  const enabled = fc.array(fc.boolean(), { minLength: kinds.length, maxLength: kinds.length })
  let run = 0
  let trouble: unknown
  let failures = 0
  let best: Failure | undefined
  const isDone = () =>
    trouble !== undefined ||
    signal.aborted ||
    failures >= MOST_FAILURES ||
    (best?.steps.length ?? Infinity) <= SHORT_STEPS
  const attempt = async (chosen: number[], isEnabled: boolean[], commands: Iterable<Move>) => {
    // The only way to end fast-check: a failure.
    if (isDone()) throw new Error('The search is over.')
    run += 1
    onRun(run)
    tell(`run ${run} of ${parts.runs}`)
    const checks = chosen.flatMap((place) => histories[place] ?? [])
    const ledger = newLedger(parts, checks, timeoutMs)
    ledger.disabled = new Set(kinds.filter((_kind, at) => isEnabled[at] === false).map(({ name }) => name))
    try {
      await fc.asyncModelRun(() => ({ model: ledger, real: ledger }), commands)
      await finish(ledger)
    } catch (error) {
      // fast-check would take any error for a counterexample, also one of settling or shrinking.
      try {
        const steps = [...ledger.taken]
        await ledger.settle()
        if (!(error instanceof Violation)) throw error
        failures += 1
        const failure = { violation: error, steps }
        // Shrinking may fail, so that this one is the result.
        best ??= failure
        const shorter = await shrink(parts, failure, timeoutMs)
        if (shorter.steps.length < best.steps.length) best = shorter
      } catch (other) {
        trouble = error instanceof Violation ? other : error
      }
    }
  }
  // Steps are shrunk as they were taken: fast-check would leave out moves, and the others would take other steps then.
  await fc.check(fc.asyncProperty(places, enabled, moves, attempt), {
    seed,
    numRuns: parts.runs,
    endOnFailure: true,
  })
  if (trouble instanceof Error && !signal.aborted) throw trouble
  return best
}

/** Delivers everything, pushes the last state of each check, and compares before and after that. */
async function finish(ledger: Ledger): Promise<void> {
  if (ledger.hasReceiver) {
    await ledger.settle()
    await ledger.judge()
  }
  for (const entry of ledger.entries) {
    const last = entry.history.pushes.length - 1
    for (const planned of pushGiven(entry, last) ?? []) await ledger.take(planned)
  }
  if (ledger.hasReceiver) await ledger.settle()
  await ledger.judge()
}

function newLedger(
  { client, agreement }: Pick<ExploreOptions, 'client' | 'agreement'>,
  histories: readonly History[],
  timeoutMs: number | undefined,
): Ledger {
  const player = createPlayer(client, { isPaced: agreement !== undefined, isLenient: true })
  return new Ledger(histories, { client, player, agreement, timeoutMs })
}

/** Takes these steps on new checks. Returns the violation with the steps as they were taken, or nothing. */
async function replay(
  parts: Pick<ExploreOptions, 'client' | 'agreement' | 'histories'>,
  steps: readonly Planned[],
  timeoutMs: number | undefined,
): Promise<Failure | undefined> {
  const ledger = newLedger(parts, parts.histories, timeoutMs)
  try {
    for (const { step, push } of steps) await ledger.take({ step, ...(push !== undefined && { push }) })
    if (ledger.hasReceiver && !(await ledger.isSettled())) {
      await ledger.settle()
      return undefined
    }
    await ledger.judge()
    return undefined
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    return { violation: error, steps: [...ledger.taken] }
  } finally {
    if (ledger.hasReceiver) await parts.client.faults.clear()
  }
}

/** Leaves out steps, half of them at a time and at last one by one, as long as the same invariant breaks. */
async function shrink(
  parts: ExploreOptions,
  failure: Failure,
  timeoutMs: number | undefined,
): Promise<Failure> {
  const { signal, tell } = parts
  const deadline = performance.now() + SHRINK_MS
  let best = failure
  for (let size = Math.ceil(best.steps.length / 2); size > 0;) {
    let isShorter = false
    for (let end = best.steps.length; end > 0; end -= size) {
      if (signal.aborted || performance.now() > deadline) return best
      tell(`shrinking, ${best.steps.length} steps`)
      const left = best.steps.filter((_step, at) => at < end - size || at >= end)
      const found = await replay(parts, left, timeoutMs)
      const isSame =
        found?.violation.code === best.violation.code && found.violation.check === best.violation.check
      if (found === undefined || !isSame) continue
      best = found
      isShorter = true
    }
    // Single steps are left out again for as long as that helps.
    if (size > 1) size = Math.floor(size / 2)
    else if (!isShorter) return best
  }
  return best
}

/** The shortest run that was found to break an invariant. */
interface Counterexample {
  code: ViolationCode
  /** Name of the check in the scenario. */
  check: string
  /** One sentence with the amounts or items. */
  message: string
  /** Repeats it with `scenario run`. */
  scenario: Scenario
}

const titles: Record<ViolationCode, string> = {
  stale_push_repeated: 'A stale push is repeated with a new revision',
  refused_without_reason: 'The service refuses a push without a reason',
  not_converged: 'The order of the pushes changes the check',
  balance_wrong: 'The balance does not add up',
  payment_lost: 'A payment is lost',
  claim_lost: 'A claim is lost',
  receiver_disagrees: "The receiver's view differs from the service",
}

/** Returns the steps that were taken as a scenario that fails where the invariant breaks. */
function counterexampleOf(violation: Violation, taken: readonly Taken[], seed: number): Counterexample {
  const { code, check, message } = violation
  const last = taken.length - 1
  const steps = taken
    .filter(({ step, answer }, at) => at === last || isKept(step, answer?.message))
    .map((one, at, kept) => stepOf(one, at === kept.length - 1 && code === 'stale_push_repeated'))
  const scenario: Scenario = {
    title: titles[code],
    description: `${message} Found by scenario explore with seed ${seed}.`,
    steps: [...withoutUnusedNames(steps), ...expectationOf(violation)],
  }
  return { code, check, message, scenario }
}

/** Refused acts of guests change nothing, and a scenario would stop at them. A refused push may be a part of the failure. */
function isKept(step: Taken['step'], refusal: string | undefined): boolean {
  return refusal === undefined || step.do === 'push'
}

function stepOf({ step, answer }: Taken, isTheFailure: boolean): Step {
  if (step.do !== 'push') return step
  const { expect: _expect, ...push } = step
  if (isTheFailure) return { ...push, expect: { status: 200 } }
  if (answer?.status === null) return { ...push, expect: { lost: true } }
  return answer?.message === undefined ? push : { ...push, expect: { status: answer.status ?? 0 } }
}

/** Removes the names that no step refers to. */
function withoutUnusedNames(steps: readonly Step[]): Step[] {
  const used = new Set(steps.flatMap((step) => referredTo(step)))
  return steps.map((step) => {
    if (!('as' in step) || step.as === undefined || used.has(step.as)) return step
    const { as: _as, ...rest } = step
    return rest
  })
}

/** Returns the step that shows the failure, unless that is a push. */
function expectationOf({ code, check, expected }: Violation): Step[] {
  if (code === 'receiver_disagrees') return [{ do: 'expect', check, receiver: 'agrees' }]
  return expected === undefined ? [] : [{ do: 'expect', check, is: expected }]
}
