import type { Basis } from '../report/result.ts'
import type { Forge } from './forge.ts'
import type { Answer, Delivery, Send } from './send.ts'

/** What a case has at hand. */
export interface Stage {
  forge: Forge
  send: Send
  /** Judges the receiver's view of its own state; absent without `--state-url`. */
  convergence?: { judge(rule: 'deduplicates' | 'orders', send: Send): Promise<Seen> }
}

/** A verdict that comes with what was seen, whatever it is. */
export interface Seen {
  verdict: 'passed' | 'failed' | 'not_checked'
  detail: string
}

/** What was wrong, in words; with a reason where it means something else than the case has in mind. */
export type Wrong = string | { detail: string; reason: string }

/** A case of the suite. `examine` tells what was wrong, or nothing when all was right. */
export interface ReceiverCase {
  group: 'accepts' | 'refuses' | 'behaves' | 'converges'
  id: string
  title: string
  /** A sentence of the specification unless said otherwise. */
  basis?: Basis
  /** What it means in production when the case fails. */
  reason: string
  examine(stage: Stage): Promise<Wrong | Seen | undefined>
}

/** A row of a table of cases. */
export type Row = Pick<ReceiverCase, 'id' | 'title' | 'basis' | 'reason'>

/** A row of what is to be refused. */
export interface RefuseRow extends Row {
  /** Each to be answered 4xx. */
  deliveries(forge: Forge): readonly Delivery[]
  /** Whether a second that turns on the way would spoil the case. */
  exact?: true
}

/** An answer in words. */
export function told(answer: Answer): string {
  return 'status' in answer ? `it answered ${answer.status}` : answer.error
}

export function isGood(answer: Answer): boolean {
  return 'status' in answer && answer.status >= 200 && answer.status < 300
}
