import { isDeepStrictEqual } from 'node:util'
import type { Push } from '../../../src/model/check.ts'
import { balanceCents, conflicts, paidCents, type State } from './guests.ts'

/** Expected state of a service, modelled from the contract (sections 6 and 7) without its code. */
export interface Model {
  /** The state of each check, by its external id. */
  checks: Map<string, State>
  /** Every push that was sent to a check, in order. */
  sent: Map<string, Push[]>
  /** Expected events, in order: type and check. */
  events: { type: string; external_check_id: string }[]
  /** How many events there were when each endpoint was registered. */
  endpoints: number[]
  /** Counts pushes, so that each has a content of its own. */
  pushes: number
}

export type Outcome = 'created' | 'updated' | 'unchanged' | 'conflict'

export const newModel = (): Model => ({
  checks: new Map(),
  sent: new Map(),
  events: [],
  endpoints: [],
  pushes: 0,
})

/** Applies a push to the model. Returns the expected result. */
export function expectPush(model: Model, id: string, push: Push): Outcome {
  model.sent.set(id, [...(model.sent.get(id) ?? []), push])
  const current = model.checks.get(id)
  if (current === undefined) {
    model.checks.set(id, { push, claims: [], payments: [] })
    happened(model, id, 'check.created', push.status === 'closed' && 'check.closed')
    return 'created'
  }
  if (!supersedes(current.push, push)) return 'unchanged'
  if (conflicts(current, push)) return 'conflict'
  const closes = push.status === 'closed' && current.push.status !== 'closed'
  const owing = balanceCents(current) > 0
  current.push = push
  const isPaid = owing && balanceCents(current) <= 0 && paidCents(current) > 0
  // No two pushes of a model are alike in all but their status, so that none is a pure close.
  happened(model, id, 'check.updated', closes && 'check.closed', isPaid && 'check.fully_paid')
  return 'updated'
}

/** Appends events in order; skips `false`. */
export function happened(model: Model, external_check_id: string, ...types: (string | false)[]): void {
  for (const type of types) if (type !== false) model.events.push({ type, external_check_id })
}

/** No two pushes of a model share a revision, so that equal ones are replays. */
function supersedes(current: Push, push: Push): boolean {
  if (isDeepStrictEqual(current, push)) return false
  if (current.revision === undefined) {
    const reopens = current.status === 'closed' && push.status === 'open'
    return push.revision !== undefined || !reopens
  }
  return push.revision !== undefined && push.revision > current.revision
}
