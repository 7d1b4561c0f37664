import { Refusal } from '../model/refusal.ts'
import { parseState, type State } from '../model/state.ts'
import type { RequestLog } from './request-log.ts'
import { ok, type Reply, type Route } from './route.ts'

/** What the routes ask of the state; each answers what is to be shown. */
export interface StateParts {
  /** `undefined` when the service lives by a clock that somebody else moves. */
  state: ReplaceableState | undefined
  log: Pick<RequestLog, 'clear'>
}

interface ReplaceableState {
  show(): Promise<object>
  load(state: State): Promise<object>
  reset(): Promise<object>
}

/** 10,000 events with their deliveries, the most that is kept unless said otherwise, take a quarter of it. */
const LONGEST_STATE = 128 * 1024 * 1024

/** `GET` and `PUT /_sim/state`, `POST /_sim/reset` (contract section 10). */
export function stateRoutes({ state, log }: StateParts): Route[] {
  const replaced = async (report: Promise<object>): Promise<Reply> => {
    const answer = ok(await report)
    // It tells of checks that are not there any more.
    log.clear()
    return answer
  }
  return [
    {
      method: 'GET',
      path: '/state',
      scope: 'simulate',
      secret: true,
      handle: async () => ok(await replaceable(state).show()),
    },
    {
      method: 'PUT',
      path: '/state',
      scope: 'simulate',
      secret: true,
      bodyLimit: LONGEST_STATE,
      handle: async (call) => replaced(replaceable(state).load(parseState(await call.body()))),
    },
    {
      method: 'POST',
      path: '/reset',
      scope: 'simulate',
      handle: () => replaced(replaceable(state).reset()),
    },
  ]
}

function replaceable(state: ReplaceableState | undefined): ReplaceableState {
  if (state !== undefined) return state
  throw new Refusal(
    'not_found',
    'This service was started with a clock of its own, which a state cannot set; so there is none to save or load.',
  )
}
