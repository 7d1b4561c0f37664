import { isDeepStrictEqual } from 'node:util'
import type { Push } from '../../../src/model/check.ts'

/** What is to be expected of a service, as the contract says it (section 6) and nothing of its code. */
export interface Model {
  /** The state of each check, by its external id. */
  checks: Map<string, Push>
  /** Every push that was sent to a check, in order. */
  sent: Map<string, Push[]>
  /** Which events each push has made: type and check. */
  events: { type: string; external_check_id: string }[]
  /** How many events there were when each endpoint was registered. */
  endpoints: number[]
  /** Counts pushes, so that each has a content of its own. */
  pushes: number
}

export type Outcome = 'created' | 'updated' | 'unchanged'

export const newModel = (): Model => ({
  checks: new Map(),
  sent: new Map(),
  events: [],
  endpoints: [],
  pushes: 0,
})

/** What a push does to the model, and what is to come of it. */
export function expectPush(model: Model, id: string, push: Push): Outcome {
  model.sent.set(id, [...(model.sent.get(id) ?? []), push])
  const current = model.checks.get(id)
  if (current !== undefined && !supersedes(current, push)) return 'unchanged'
  model.checks.set(id, push)
  model.events.push(...eventsOf(current, push).map((type) => ({ type, external_check_id: id })))
  return current === undefined ? 'created' : 'updated'
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

/** No two pushes of a model are alike in all but their status, so that none is a pure close. */
function eventsOf(current: Push | undefined, push: Push): string[] {
  const closes = push.status === 'closed' && current?.status !== 'closed'
  return [current === undefined ? 'check.created' : 'check.updated', ...(closes ? ['check.closed'] : [])]
}
