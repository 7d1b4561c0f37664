import { Refusal } from '../model/refusal.ts'
import type { State } from '../model/state.ts'
import { stateText } from '../model/state-text.ts'
import { invalid } from '../model/validation.ts'
import type { RegistrationParts } from './registration.ts'
import type { RequestLog } from './request-log.ts'
import { ok, type Reply, type Route } from './route.ts'
import { readState } from './state-body.ts'
import { textBody } from './text-stream.ts'

/** What the routes ask of the state; each answers what is to be shown. */
export interface StateParts extends Pick<RegistrationParts, 'judgeDestination'> {
  /** `undefined` when the service lives by a clock that somebody else moves. */
  state: ReplaceableState | undefined
  log: Pick<RequestLog, 'clear'>
}

interface ReplaceableState {
  show(): Promise<State>
  load(state: State, signal: AbortSignal): Promise<object>
  reset(signal: AbortSignal): Promise<object>
}

/** `GET` and `PUT /_sim/state`, `POST /_sim/reset` (contract section 10). */
export function stateRoutes({ state, log, judgeDestination }: StateParts): Route[] {
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
      keyOnly: true,
      handle: async () => ({
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: textBody(stateText(await replaceable(state).show())),
      }),
    },
    {
      method: 'PUT',
      path: '/state',
      scope: 'simulate',
      secret: true,
      keyOnly: true,
      async handle(call) {
        const { load } = replaceable(state)
        const given = await readState((limit, take) => call.chunks(limit, take))
        const wanted = await withDestinations(given, judgeDestination)
        return replaced(load(wanted, call.gone()))
      },
    },
    {
      method: 'POST',
      path: '/reset',
      scope: 'simulate',
      handle: (call) => replaced(replaceable(state).reset(call.gone())),
    },
  ]
}

/**
 * The state with its endpoints' URLs in the form in which registration stores them.
 * @throws Refusal `validation_failed` with all those that registration refuses (contract section 9).
 */
async function withDestinations(state: State, judge: RegistrationParts['judgeDestination']): Promise<State> {
  const urls = [...new Set(state.endpoints.map(({ url }) => url))]
  const judged = new Map(await Promise.all(urls.map(async (url) => [url, await judge(url)] as const)))
  const issues = state.endpoints.flatMap(({ url }, index) => {
    const destination = judged.get(url)
    if (destination === undefined || !('reason' in destination)) return []
    return [{ path: `endpoints[${index}].url`, message: destination.reason }]
  })
  if (issues.length > 0) throw invalid(issues)
  const endpoints = state.endpoints.map((endpoint) => ({ ...endpoint, ...judged.get(endpoint.url) }))
  return { ...state, endpoints }
}

function replaceable(state: ReplaceableState | undefined): ReplaceableState {
  if (state !== undefined) return state
  throw new Refusal(
    'not_found',
    'This service was started with a clock of its own, which a state cannot set; so there is none to save or load.',
  )
}
