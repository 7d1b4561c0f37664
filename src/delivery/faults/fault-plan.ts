import type { AttemptResult, Delivery } from '../../model/delivery.ts'
import {
  countInjection,
  seededRandom,
  leftOf,
  useUp,
  type FaultRule,
} from '../../model/simulator/fault-rules.ts'
import type { DeliveryFault } from '../../model/simulator/fault.ts'
import { deliveryFaultKinds, type DeliveryFaultKind } from '../../model/simulator/fault-kinds.ts'
import type { SendResult } from '../send/send.ts'

/** The faults to inject into one attempt, drawn when the attempt is about to start. */
export interface FaultPlan {
  faults: readonly DeliveryFaultKind[]
  /** The attempt must be held back first. */
  holds: boolean
  /** How long it is held, in milliseconds of the service's clock. */
  delay_ms: number
  /** How much longer it is held at most, until another delivery overtakes it. */
  reorder_ms: number
  /** When it was held back; `undefined` when it was not. */
  heldSince?: string
  /** The rules that matched, with the kinds that each injects. */
  injected: readonly InjectedFault[]
}

interface InjectedFault {
  rule: FaultRule<DeliveryFault>
  kinds: readonly DeliveryFaultKind[]
}

/** The attempt to plan for. */
interface AttemptSubject {
  delivery: Pick<Delivery, 'event_type' | 'endpoint_id'>
  /** Number of the delivery in commit order since the faults were set. */
  ordinal: number
  attempt: number
  mayReorder: boolean
}

/**
 * Draws the faults of an attempt; `undefined` when none matches. `available` returns how many injections of a rule are
 * left. A dropped attempt gets no other fault.
 */
export function planFaults(
  rules: readonly FaultRule<DeliveryFault>[],
  seed: number,
  subject: AttemptSubject,
  available: (rule: FaultRule<DeliveryFault>) => number = leftOf,
): FaultPlan | undefined {
  const matches = rules
    .filter((rule) => available(rule) > 0 && appliesTo(rule.fault, subject.delivery))
    .map((rule) => ({ rule, kinds: drawKinds(rule, seed, subject) }))
    .filter(({ kinds }) => kinds.length > 0)
  const drop = matches.find(({ kinds }) => kinds.includes('drop'))
  return planFrom(drop === undefined ? matches : [{ rule: drop.rule, kinds: ['drop'] }])
}

/**
 * Uses up one injection of each rule of a plan. Returns the plan without the rules that have none left; `undefined` when
 * no rule remains.
 */
export function takePlan(
  rules: readonly FaultRule<DeliveryFault>[],
  { injected }: FaultPlan,
): FaultPlan | undefined {
  const granted = injected.flatMap(({ rule: { index }, kinds }) => {
    const rule = rules[index]
    return rule === undefined || leftOf(rule) === 0 ? [] : [{ rule, kinds }]
  })
  for (const { rule } of granted) useUp(rule)
  return planFrom(granted)
}

/** Counts the injections of a plan. */
export function countPlan(rules: readonly FaultRule<DeliveryFault>[], { injected }: FaultPlan): void {
  for (const {
    rule: { index },
    kinds,
  } of injected) {
    const rule = rules[index]
    if (rule !== undefined) for (const kind of kinds) countInjection(rule, kind)
  }
}

function planFrom(injected: readonly InjectedFault[]): FaultPlan | undefined {
  if (injected.length === 0) return undefined
  const faults = deliveryFaultKinds.filter((kind) => injected.some(({ kinds }) => kinds.includes(kind)))
  const longest = (kind: 'delay' | 'reorder') =>
    Math.max(
      0,
      ...injected.map(({ rule, kinds }) => (kinds.includes(kind) ? (rule.fault[`${kind}_ms`] ?? 0) : 0)),
    )
  const [delay_ms, reorder_ms] = [longest('delay'), longest('reorder')]
  return { faults, holds: delay_ms + reorder_ms > 0, delay_ms, reorder_ms, injected }
}

function appliesTo(
  { event_types, endpoint_ids }: DeliveryFault,
  delivery: AttemptSubject['delivery'],
): boolean {
  if (event_types?.every((type) => type !== delivery.event_type) === true) return false
  return endpoint_ids?.includes(delivery.endpoint_id) !== false
}

function drawKinds({ fault, index }: FaultRule<DeliveryFault>, seed: number, subject: AttemptSubject) {
  const { ordinal, attempt, mayReorder } = subject
  return deliveryFaultKinds
    .filter((kind) => kind !== 'reorder' || mayReorder)
    .filter((kind) => seededRandom(seed, kind, index, ordinal, attempt) < (fault[kind] ?? 0))
}

/** Sends with the planned faults, once the attempt is no longer held. Of a duplicate, the first response counts. */
export async function sendWithFaults(
  { faults }: FaultPlan,
  send: () => Promise<SendResult>,
): Promise<SendResult> {
  if (faults.includes('drop')) return dropped
  const result = await send()
  if (faults.includes('duplicate')) await send()
  return result
}

const dropped: SendResult = {
  duration_ms: 0,
  outcome: 'dropped',
  response_status: null,
  response_body: null,
  error: 'Not sent: an injected fault dropped this delivery. Run tabwire faults show.',
}

/** Returns the fields of an attempt that record its injected faults. */
export function faultFields(
  { faults, heldSince }: FaultPlan,
  started_at: string,
): Pick<AttemptResult, 'faults' | 'held_ms'> {
  if (heldSince === undefined) return { faults }
  return { faults, held_ms: Date.parse(started_at) - Date.parse(heldSince) }
}
