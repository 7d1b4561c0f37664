import { ApiError, Unreachable, type Client } from '../../client.ts'
import { uniqueName, next, type PushBody } from '../push/bodies.ts'
import { expected, type Watched, mismatches, type Mismatch } from './expect.ts'
import { resolved, type Action, type ExpectStep, type Scenario, type Step } from './schema.ts'

/** Result of a step. */
export interface StepReport {
  /** From 1. */
  number: number
  step: Step
  passed: boolean
  duration_ms: number
  mismatches: readonly Mismatch[]
  /** Status of the response, if any. */
  status: number | null
  /** Why the step failed: an unexpected refusal, or an unknown reference. */
  error: string | null
  /** Deliveries were expected, but there is no endpoint to check. */
  skipped_deliveries: boolean
}

/** Result of a scenario: all steps up to the first that failed. */
export interface ScenarioReport {
  title: string
  passed: boolean
  /** External id of each check, by its name in the scenario. */
  checks: Readonly<Record<string, string>>
  steps: readonly StepReport[]
  /** Number of steps in the scenario. */
  steps_total: number
}

interface Play {
  client: Client
  /** Text that differs in each run, in the place of `{run}`. */
  run: string
  watched: Watched | undefined
  checks: Map<string, string>
  /** Latest pushed body of each check. */
  bodies: Map<string, PushBody>
  answers: Map<string, unknown>
}

/**
 * Runs the steps of a scenario up to the first that fails, on its own checks. Calls `onStep` after each.
 * @throws Unreachable, and ApiError when the key is refused.
 */
export async function playScenario(
  { title, steps }: Scenario,
  client: Client,
  watched: Watched | undefined,
  onStep: (report: StepReport) => void = () => {},
): Promise<ScenarioReport> {
  const play: Play = {
    client,
    run: uniqueName('run'),
    watched,
    checks: new Map(),
    bodies: new Map(),
    answers: new Map(),
  }
  const reports: StepReport[] = []
  for (const [index, step] of steps.entries()) {
    const started = performance.now()
    const taken = await takeStep(step, play)
    const duration_ms = Math.round(performance.now() - started)
    const report = { ...passedSoFar, number: index + 1, step, duration_ms, ...taken }
    reports.push(report)
    onStep(report)
    if (!report.passed) break
  }
  const passed = reports.every((report) => report.passed)
  return { title, passed, checks: Object.fromEntries(play.checks), steps: reports, steps_total: steps.length }
}

const passedSoFar = { passed: true, mismatches: [], status: null, error: null, skipped_deliveries: false }

async function takeStep(given: Step, play: Play): Promise<Partial<StepReport>> {
  const step = JSON.parse(JSON.stringify(given).replaceAll('{run}', play.run)) as Step
  let asked: Step
  try {
    asked = resolved(
      'check' in step ? { ...step, check: externalIdOf(step.check, play) } : step,
      play.answers,
    )
  } catch (error) {
    return { passed: false, error: (error as Error).message }
  }
  if (asked.do === 'expect') return checkExpectations(asked, play)
  const answer = await answerTo(asked, step, play)
  if (asked.as !== undefined) play.answers.set(asked.as, answer.body)
  return checkAnswer(asked, answer)
}

async function checkExpectations(step: ExpectStep, { client, watched }: Play): Promise<Partial<StepReport>> {
  const found = await expected(client, step, watched)
  const skipped_deliveries = step.deliveries !== undefined && watched === undefined
  return { passed: found.length === 0, mismatches: found, skipped_deliveries }
}

/** Returns the external id of a check. Each run has its own, so that a scenario can run again. */
function externalIdOf(name: string, { checks }: Play): string {
  const id = checks.get(name) ?? uniqueName(name)
  checks.set(name, id)
  return id
}

interface Answer {
  /** `null` when no response arrived, as the step expects. */
  status: number | null
  /** The resource, or the error. */
  body: unknown
  message?: string
}

async function answerTo(asked: Action, step: Step, { client, bodies }: Play): Promise<Answer> {
  const check = 'check' in step ? step.check : ''
  const body = bodyFor(asked, bodies.get(check))
  try {
    const request = requests[asked.do] as (
      step: Action & { body?: unknown },
    ) => readonly [string, string, unknown]
    const { status, json } = await client.request(...request(body === undefined ? asked : { ...asked, body }))
    if (body !== undefined) bodies.set(check, body)
    return { status, body: json }
  } catch (error) {
    if (error instanceof Unreachable && asked.expect?.lost === true) return { status: null, body: {} }
    if (!(error instanceof ApiError) || error.status === 401 || error.status === 403) throw error
    return { status: error.status, body: error.body, message: error.message }
  }
}

function bodyFor(asked: Action, last: PushBody | undefined): PushBody | undefined {
  if (asked.do === 'push') return asked.body as unknown as PushBody
  return asked.do === 'close' && last !== undefined ? next(last, { status: 'closed' }) : undefined
}

function checkAnswer({ expect }: Action, { status, body, message }: Answer): Partial<StepReport> {
  if (expect === undefined && message !== undefined)
    return { passed: false, status, error: `Expected 2xx. The service answered ${status}: ${message}` }
  const { code } = body as { code?: unknown }
  const lost = status === null ? true : undefined
  const answered = { status, code: message === undefined ? undefined : code, body, lost }
  const found = mismatches(expect ?? {}, answered)
  return { passed: found.length === 0, status, mismatches: found }
}

type Of<Name extends Action['do']> = Extract<Action, { do: Name }>
type Wire = readonly [method: string, path: string, body?: unknown]

/** Request of each kind of step; `check` is the external id, and `body` is what a POS sends. */
export const requests: { [Name in Action['do']]: (step: Of<Name> & { body?: unknown }) => Wire } = {
  push: ({ check, body }) => ['PUT', `/v1/checks/external/${one(check)}`, body],
  close: ({ check, body }) => ['PUT', `/v1/checks/external/${one(check)}`, body],
  claim: ({ check, guest_name, items }) => [
    'POST',
    `/_sim/checks/${one(check)}/claims`,
    { guest_name, items },
  ],
  release: ({ claim }) => ['DELETE', `/_sim/claims/${one(claim)}`],
  pay: ({ check, guest_name, claim_ids, amount_cents, tip_cents }) => [
    'POST',
    `/_sim/checks/${one(check)}/payments`,
    { guest_name, claim_ids, amount_cents, tip_cents },
  ],
  refund: ({ payment, amount_cents }) => ['POST', `/_sim/payments/${one(payment)}/refunds`, { amount_cents }],
  rate: ({ check, guest_name, rating, comment }) => [
    'POST',
    `/_sim/checks/${one(check)}/feedback`,
    { guest_name, rating, comment },
  ],
  advance: ({ by }) => ['POST', '/_sim/clock', { advance: by }],
  faults: ({ faults }) => ['PUT', '/_sim/faults', { faults }],
}

const one = encodeURIComponent
