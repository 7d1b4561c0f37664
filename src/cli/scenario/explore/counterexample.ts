import { referredTo, type Scenario, type Step } from '../schema.ts'
import type { Taken, Violation, ViolationCode } from './ledger.ts'

/** The shortest run that was found to break an invariant. */
export interface Counterexample {
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
export function counterexampleOf(
  violation: Violation,
  taken: readonly Taken[],
  seed: number,
): Counterexample {
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
