import { ApiError, Unreachable, type Client } from '../../client.ts'
import type { EventView } from '../../model/event-view.ts'
import { ORDER_BY } from '../../model/revision.ts'
import { uniqueName, next, orderedBy, type PushBody } from '../push/bodies.ts'
import { durationText } from '../../model/text/time.ts'
import { unmetExpectations, mismatches, type Mismatch, type Observed } from './expect.ts'
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
  /** The receiver's view was expected to agree, but there is no `--state-url`. */
  skipped_receiver: boolean
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

/** Options of a player. */
export interface PlayOptions extends Observed {
  /**
   * Advances the clock by a second after each action. So its deliveries are attempted before the next step, and no two
   * events have the same time.
   */
  isPaced?: boolean
  /** Accepts that the response to any push is lost, whether or not the step expects it. */
  isLenient?: boolean
  /** The field of a push that orders updates, which `close` raises. @default 'revision' */
  orderBy?: string
}

interface Play extends PlayOptions {
  client: Client
  /** Text that differs in each run, in the place of `{run}`. */
  run: string
  checks: Map<string, string>
  /** Latest pushed body of each check. */
  bodies: Map<string, PushBody>
  answers: Map<string, unknown>
}

/** Takes steps one after another, on checks of its own. */
export interface Player {
  /** External id of each check so far, by its name in the scenario. */
  checks: ReadonlyMap<string, string>
  /** Takes a step and compares its expectations. @throws Unreachable, and ApiError when the key is refused. */
  take(step: Step): Promise<Partial<StepReport>>
  /** Takes an action and returns the response, whatever the step expects; `undefined` when a reference is unknown. */
  act(step: Action | SimulatorStep): Promise<StepResponse | undefined>
}

/** A step that needs several requests to the simulator. */
type SimulatorStep = Exclude<Step, ExpectStep | Action>

export function createPlayer(client: Client, options: PlayOptions): Player {
  const play: Play = {
    ...options,
    client,
    run: uniqueName('run'),
    checks: new Map(),
    bodies: new Map(),
    answers: new Map(),
  }
  return {
    checks: play.checks,
    take: (step) => takeStep(step, play),
    async act(step) {
      const asked = prepared(step, play)
      return 'issue' in asked ? undefined : act(asked.step as typeof step, step, play)
    },
  }
}

/**
 * Runs the steps of a scenario up to the first that fails, on its own checks. Calls `onStep` after each.
 * @throws Unreachable, and ApiError when the key is refused.
 */
export async function playScenario(
  { title, steps }: Scenario,
  client: Client,
  options: PlayOptions,
  onStep: (report: StepReport) => void = () => {},
): Promise<ScenarioReport> {
  const player = createPlayer(client, options)
  const reports: StepReport[] = []
  for (const [index, step] of steps.entries()) {
    const started = performance.now()
    const taken = await player.take(step)
    const duration_ms = Math.round(performance.now() - started)
    const report = { ...passedSoFar, number: index + 1, step, duration_ms, ...taken }
    reports.push(report)
    onStep(report)
    if (!report.passed) break
  }
  const passed = reports.every((report) => report.passed)
  return {
    title,
    passed,
    checks: Object.fromEntries(player.checks),
    steps: reports,
    steps_total: steps.length,
  }
}

const passedSoFar = {
  passed: true,
  mismatches: [],
  status: null,
  error: null,
  skipped_deliveries: false,
  skipped_receiver: false,
}

async function takeStep(given: Step, play: Play): Promise<Partial<StepReport>> {
  const asked = prepared(given, play)
  if ('issue' in asked) return { passed: false, error: asked.issue }
  const { step } = asked
  if (step.do === 'expect') return checkExpectations(step, play)
  const answer = await act(step, given as Action, play)
  return checkAnswer(step, answer)
}

/** Returns the step with the texts of this run in the place of references and names. */
function prepared(given: Step, play: Play): { step: Step } | { issue: string } {
  const step = JSON.parse(JSON.stringify(given).replaceAll('{run}', play.run)) as Step
  try {
    const named = 'check' in step ? { ...step, check: externalIdOf(step.check, play) } : step
    const { note, ...others } = named
    return { step: { ...resolved(others, play.answers), ...(note !== undefined && { note }) } as Step }
  } catch (error) {
    return { issue: (error as Error).message }
  }
}

/** Takes an action; `given` is the step before names and references were replaced. */
async function act(
  asked: Action | SimulatorStep,
  given: Action | SimulatorStep,
  play: Play,
): Promise<StepResponse> {
  const answer = isSimulatorStep(asked)
    ? await controls[asked.do](play.client, asked as never)
    : await answerTo(asked, given as Action, play)
  if ('as' in asked && asked.as !== undefined) play.answers.set(asked.as, answer.body)
  if (play.isPaced === true) await play.client.clock.advance('1s')
  return answer
}

function isSimulatorStep(step: Action | SimulatorStep): step is SimulatorStep {
  return step.do === 'resend' || step.do === 'settle'
}

async function checkExpectations(
  step: ExpectStep,
  { client, watched, judge }: Play,
): Promise<Partial<StepReport>> {
  const found = await unmetExpectations(client, step, { watched, judge }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return error.message
    throw error
  })
  if (typeof found === 'string') return { passed: false, error: found }
  const skipped_deliveries = step.deliveries !== undefined && watched === undefined
  const skipped_receiver = step.receiver !== undefined && judge === undefined
  return { passed: found.length === 0, mismatches: found, skipped_deliveries, skipped_receiver }
}

/** Returns the external id of a check. Each run has its own, so that a scenario can run again. */
function externalIdOf(name: string, { checks }: Play): string {
  const id = checks.get(name) ?? uniqueName(name)
  checks.set(name, id)
  return id
}

/** Response to a step. */
export interface StepResponse {
  /** `null` when no response arrived, as the step expects. */
  status: number | null
  /** The resource, or the error. */
  body: unknown
  /** Message of a refusal. */
  message?: string
}

async function answerTo(
  asked: Action,
  step: Action,
  { client, bodies, isLenient, orderBy = ORDER_BY }: Play,
): Promise<StepResponse> {
  const check = 'check' in step ? step.check : ''
  const body = bodyFor(asked, bodies.get(check), orderBy)
  try {
    const request = requests[asked.do] as (
      step: Action & { body?: unknown },
    ) => readonly [string, string, unknown]
    const { status, json } = await client.request(...request(body === undefined ? asked : { ...asked, body }))
    if (body !== undefined) bodies.set(check, body)
    return { status, body: json }
  } catch (error) {
    const mayBeLost = asked.do === 'push' && (isLenient === true || asked.expect?.lost === true)
    if (error instanceof Unreachable && mayBeLost) {
      // What was sent is the newest state of the POS, whether or not the service has it.
      if (body !== undefined) bodies.set(check, body)
      return { status: null, body: {} }
    }
    if (!(error instanceof ApiError) || error.status === 401 || error.status === 403) throw error
    return { status: error.status, body: error.body, message: error.message }
  }
}

/** Most rounds of `settle`: a delivery has seven attempts, and an attempt may hold another one back. */
const ROUNDS = 20

const controls = {
  /** Sends the delivery of an event again. */
  async resend(client: Client, { check, event }: Extract<Step, { do: 'resend' }>): Promise<StepResponse> {
    let number = 0
    let found: EventView | undefined
    for await (const one of client.events.all({ external_check_id: check, order: 'asc', limit: 100 })) {
      number += 1
      if (number === event) {
        found = one
        break
      }
    }
    if (found === undefined)
      return refusal(`The step resends event ${event} of the check, which has only ${number}.`)
    const deliveries = await client.deliveries.list({ event_id: found.id, order: 'asc', limit: 1 })
    const [delivery] = deliveries.data
    if (delivery === undefined)
      return refusal(`Event ${event} of the check has no delivery. Register a webhook endpoint for it.`)
    return { status: 201, body: await client.deliveries.resend(delivery) }
  },
  async settle(client: Client): Promise<StepResponse> {
    await client.faults.clear()
    for (let round = 0; round < ROUNDS; round += 1) {
      const { data } = await client.deliveries.list({ status: 'pending', limit: 100 })
      if (data.length === 0) return { status: 200, body: {} }
      const times = data.flatMap(({ next_attempt_at }) => next_attempt_at ?? [])
      const { now } = await client.clock.show()
      const latest = times.toSorted().at(-1) ?? now
      await client.clock.advance(durationText(Math.max(1_000, Date.parse(latest) - Date.parse(now))))
    }
    return refusal('Deliveries are still pending. The receiver does not answer, or refuses them.')
  },
}

function refusal(message: string): StepResponse {
  return { status: 409, body: {}, message }
}

function bodyFor(asked: Action, last: PushBody | undefined, orderBy: string): PushBody | undefined {
  if (asked.do === 'push') return asked.body as unknown as PushBody
  if (asked.do !== 'close' || last === undefined) return undefined
  const { [orderBy]: revision, ...rest } = last as PushBody & Record<string, unknown>
  const known = { ...rest, ...(revision !== undefined && { revision }) } as PushBody
  return orderedBy(orderBy, next(known, { status: 'closed' })) as PushBody
}

function checkAnswer(
  step: Action | SimulatorStep,
  { status, body, message }: StepResponse,
): Partial<StepReport> {
  if (isSimulatorStep(step))
    return message === undefined ? { status } : { passed: false, status, error: message }
  const { expect } = step
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
  push: ({ check, body }) => ['PUT', `/v1/checks/external/${encoded(check)}`, body],
  close: ({ check, body }) => ['PUT', `/v1/checks/external/${encoded(check)}`, body],
  claim: ({ check, guest_name, items }) => [
    'POST',
    `/_sim/checks/${encoded(check)}/claims`,
    { guest_name, items },
  ],
  release: ({ claim }) => ['DELETE', `/_sim/claims/${encoded(claim)}`],
  pay: ({ check, guest_name, claim_ids, amount_cents, tip_cents, card }) => [
    'POST',
    `/_sim/checks/${encoded(check)}/payments`,
    { guest_name, claim_ids, amount_cents, tip_cents, card },
  ],
  refund: ({ payment, amount_cents }) => [
    'POST',
    `/_sim/payments/${encoded(payment)}/refunds`,
    { amount_cents },
  ],
  rate: ({ check, guest_name, rating, comment }) => [
    'POST',
    `/_sim/checks/${encoded(check)}/feedback`,
    { guest_name, rating, comment },
  ],
  advance: ({ by }) => ['POST', '/_sim/clock', { advance: by }],
  faults: ({ faults }) => ['PUT', '/_sim/faults', { faults }],
}

const encoded = encodeURIComponent
