import { INTERRUPTED, type CaseResult } from '../report/result.ts'
import type { ReceiverCase, CaseContext } from './case.ts'
import { createPace, createTimeouts } from './timing.ts'

export interface Run {
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
  const timeouts = createTimeouts(pace.send, timeoutMs, signal)
  let failedControl: ReceiverCase | undefined

  async function run(one: ReceiverCase, isSlow: boolean): Promise<void> {
    const lost = reasonNotToTry(one)
    if (lost === undefined) begin(one, cases.indexOf(one))
    const send: CaseContext['send'] = (delivery, options) => timeouts.send(one, delivery, options)
    const result = lost === undefined ? await examine(one, { ...context, send, isSlow }) : notTried(one, lost)
    results.set(one, signal.aborted ? notTried(one, INTERRUPTED) : result)
    if (one.group === 'control' && result.verdict === 'failed') failedControl ??= one
  }

  function reasonNotToTry(one: ReceiverCase): string | undefined {
    if (signal.aborted) return INTERRUPTED
    return guards(failedControl, one) ? referTo(failedControl) : timeouts.lost(one)
  }

  for (const group of new Set(cases.map((one) => one.group))) {
    const members = cases.filter((one) => one.group === group)
    const isTried = members.some((one) => reasonNotToTry(one) === undefined)
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
    if (guards(failedControl, one) && one !== failedControl && result.detail !== INTERRUPTED)
      return [{ ...notTried(one, referTo(failedControl)), duration_ms: result.duration_ms }]
    if (result.verdict !== 'failed' || cause === undefined) return [result]
    return [{ ...notTried(one, referTo(cause)), duration_ms: result.duration_ms }]
  })
}

/** Returns true when a case cannot be judged since a control failed. What is rejected says nothing of the state that is kept. */
function guards(control: ReceiverCase | undefined, one: ReceiverCase): control is ReceiverCase {
  return control !== undefined && (one.group !== 'converges' || control.id === 'genuine_accepted')
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
  if (typeof found === 'object' && 'passed' in found)
    return { ...named(one), verdict: 'passed', detail: found.passed, duration_ms }
  const told = typeof found === 'string' ? { detail: found } : found
  return { ...named(one), verdict: 'failed', ...told, duration_ms }
}

function notTried(one: ReceiverCase, detail: string): CaseResult {
  return { ...named(one), verdict: 'not_checked', detail, duration_ms: 0 }
}

function named({ group, id, title, basis = 'specification', reason }: ReceiverCase) {
  return { group, id, title, basis, reason }
}
