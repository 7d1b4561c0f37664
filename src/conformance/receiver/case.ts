import type { Basis } from '../report.ts'
import type { Forge } from './forge.ts'
import type { DeliveryAnswer, Delivery, SendDelivery } from './send.ts'

/** A forged delivery that was not accepted. */
interface Rejection {
  /** Of the case. */
  id: string
  answer: DeliveryAnswer
}

/** What the receiver's view of its own state shows, by the id of its case. */
export type ConvergenceRule = 'deduplicates' | 'orders' | 'ignores_forged'

/** Context of a case: the means by which it examines the receiver. */
export interface CaseContext {
  forge: Forge
  send: SendDelivery
  /** The answer to the plain, genuine delivery that every run begins with. */
  first: DeliveryAnswer
  /** The rejections of all cases so far. */
  rejections: Rejection[]
  /** True when what a case sends should be in flight at once, where its order does not matter. */
  isSlow: boolean
  /** Judges the receiver's view of its own state; absent without `--state-url`. */
  convergence?: { judge(rule: ConvergenceRule, send: SendDelivery): Promise<CaseOutcome> } | undefined
}

/** A mistake in words; with a reason where it means something else than the case has in mind. */
type CaseMistake = string | { detail: string; reason: string }

/**
 * Outcome of a case: a mistake, why it could not judge, why it could not run as requested, an observation, or nothing when
 * the receiver is correct.
 */
export type CaseOutcome =
  | CaseMistake
  | { notChecked: string }
  | { error: string }
  | { passed: string }
  | undefined

/** A case of the suite. */
export interface ReceiverCase {
  group: 'control' | 'accepts' | 'refuses' | 'behaves' | 'converges'
  id: string
  title: string
  /** A sentence of the specification unless said otherwise. */
  basis?: Basis
  /** Effect of a failure in production. */
  reason: string
  /** The cases whose mistake shows in this one, too. Where one of them failed, this one says nothing new. */
  explainedBy?: readonly string[]
  /** Runs after the other cases of its group, and beside none: it may end the receiver. */
  isAlone?: true
  examine(context: CaseContext): Promise<CaseOutcome>
}

/** A row of a table of cases. */
export type Row = Pick<ReceiverCase, 'id' | 'title' | 'basis' | 'reason' | 'explainedBy' | 'isAlone'>

/** Deliveries of a rejection case, in this order. */
export interface Forgery {
  /** Genuine; the forged ones build on it. */
  before?: Delivery
  /**
   * Each to be rejected. Each has an envelope id of its own, unless ids are what the case is about: a receiver that
   * stores ids before it verifies accepts the second delivery with one id, whatever its signature.
   */
  forged: readonly Delivery[]
  /**
   * The same done right. Only where it is accepted does the rejection of the forged ones mean that the signature was
   * verified. A plain, genuine delivery unless given.
   */
  genuine?: Delivery
}

/** A row of the table of rejections. */
export interface RefuseRow extends Row {
  forge(forge: Forge): Forgery
}

/** An answer in words, such as `Rejected (400)`. */
export function describeAnswer(answer: DeliveryAnswer): string {
  if (!('status' in answer)) return answer.error.charAt(0).toUpperCase() + answer.error.slice(1)
  const { status, headers } = answer
  if (isGood(answer)) return `Accepted (${status})`
  if (status >= 400 && status < 500) return `Rejected (${status})`
  const place = headers.location === undefined ? '' : ` to ${withoutQuery(headers.location)}`
  return status >= 500 ? `Failed (${status})` : `Redirected (${status})${place}`
}

export function isGood(answer: DeliveryAnswer): boolean {
  return 'status' in answer && answer.status >= 200 && answer.status < 300
}

/** A query may hold a token. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/s, '')
}

/** Sends a delivery, and again where a receiver that is ending closes a connection that it had not accepted yet. */
export async function afterEnding(send: () => Promise<DeliveryAnswer>): Promise<DeliveryAnswer> {
  const answer = await send()
  return 'code' in answer && answer.code === 'ECONNRESET' ? send() : answer
}

/** Returns the mistake of a receiver that no longer listens after a forged request; nothing for one that does. */
export function stopOf(answer: DeliveryAnswer): CaseOutcome {
  if (!('code' in answer) || answer.code !== 'ECONNREFUSED') return undefined
  return {
    detail: 'The receiver stopped: it no longer listens.',
    reason: 'One forged request stops the receiver. Later deliveries are lost.',
  }
}
