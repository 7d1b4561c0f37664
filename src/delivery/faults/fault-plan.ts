import type { AttemptResult, Delivery } from '../../model/delivery.ts'
import { draw } from '../../model/draw.ts'
import type { DeliveryFault } from '../../model/fault.ts'
import { deliveryFaultKinds, type DeliveryFaultKind } from '../../model/fault-kinds.ts'
import type { FaultRule } from '../../model/fault-rules.ts'
import type { SendResult } from '../send/send.ts'

/** What shall befall one attempt, as it was drawn when the attempt was about to begin. */
export interface FaultPlan {
  faults: readonly DeliveryFaultKind[]
  /** It is to be held back first. */
  holds: boolean
  /** For how long, in milliseconds of the service's clock. */
  delay_ms: number
  /** How much longer at most, for another delivery to overtake it. */
  reorder_ms: number
  /** When it was held back, if it was. */
  heldSince?: string
  /** The faults that did it. */
  injected: readonly InjectedFault[]
}

export interface InjectedFault {
  rule: FaultRule<DeliveryFault>
  kinds: readonly DeliveryFaultKind[]
}

/** Which attempt fate is asked about. */
interface AttemptSubject {
  delivery: Pick<Delivery, 'event_type' | 'endpoint_id'>
  /** Of the delivery, in the order of commits since the faults were set. */
  ordinal: number
  attempt: number
  mayReorder: boolean
}

/**
 * Draws what befalls an attempt, if anything does, and takes one off what is `left` of each fault that does. What a
 * receiver never sees is neither late nor twice there.
 */
export function planFaults(
  rules: readonly FaultRule<DeliveryFault>[],
  seed: number,
  subject: AttemptSubject,
): FaultPlan | undefined {
  const matches = rules
    .filter(({ fault, left }) => left > 0 && appliesTo(fault, subject.delivery))
    .map((rule) => ({ rule, kinds: drawKinds(rule, seed, subject) }))
    .filter(({ kinds }) => kinds.length > 0)
  if (matches.length === 0) return undefined
  const drops = matches.filter(({ kinds }) => kinds.includes('drop'))
  const injected = drops.length > 0 ? drops.slice(0, 1) : matches
  for (const { rule } of injected) rule.left -= 1
  return planFrom(
    drops.length > 0 ? injected.map(({ rule }) => ({ rule, kinds: ['drop'] as const })) : injected,
  )
}

function planFrom(injected: readonly InjectedFault[]): FaultPlan {
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
    .filter((kind) => draw(seed, kind, index, ordinal, attempt) < (fault[kind] ?? 0))
}

/** Sends under a fate that is no longer held back. The first answer counts: who sends twice does not know that they do. */
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
  error: 'Nothing was sent: the delivery was lost on its way, on purpose. See tabwire faults show.',
}

/** What an attempt is marked with, so that everybody sees what befell it. */
export function faultFields(
  { faults, heldSince }: FaultPlan,
  started_at: string,
): Pick<AttemptResult, 'faults' | 'held_ms'> {
  if (heldSince === undefined) return { faults }
  return { faults, held_ms: Date.parse(started_at) - Date.parse(heldSince) }
}
