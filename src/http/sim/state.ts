import { Refusal } from '../../model/refusal.ts'
import { savedStateBody, type State } from '../../model/simulator/state.ts'
import { stateText } from '../../model/simulator/state-text.ts'
import { invalid } from '../../model/validation.ts'
import type { RegistrationParts } from '../v1/routes.ts'
import type { RequestLog } from '../request-log/log.ts'
import { ok, type Documented, type Reply } from '../route.ts'
import { readState } from './state-body.ts'
import { timers } from '../../timers.ts'

/** The state as the routes use it; each call returns the view to answer with. */
export interface StateParts extends Pick<RegistrationParts, 'judgeDestination'> {
  /** `undefined` when the service uses a clock of the program's own. */
  state: ReplaceableState | undefined
  log: Pick<RequestLog, 'clear'>
}

interface ReplaceableState {
  show(): Promise<State>
  load(state: State, signal: AbortSignal): Promise<object>
  reset(signal: AbortSignal): Promise<object>
}

/** `GET` and `PUT /_sim/state`, `POST /_sim/reset` (contract section 10). */
export function stateRoutes({ state, log, judgeDestination }: StateParts): Documented[] {
  const replaced = async (report: Promise<object>): Promise<Reply> => {
    const answer = ok(await report)
    // Its entries are about checks that no longer exist.
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
      doc: {
        id: 'getState',
        tag: 'Simulator state',
        summary: 'Show the whole state',
        description:
          'Signing secrets and the clock included; API keys are not. The JSON has one record a line and is sent while it is written.',
        answers: { 200: { description: 'The state, to be put back as it is.', schema: 'State' } },
        errors: ['NotFound'],
      },
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
      // Read and checked in pieces, since it may have a gigabyte.
      body: savedStateBody,
      doc: {
        id: 'loadState',
        tag: 'Simulator state',
        summary: 'Replace the whole state',
        description:
          'Takes what `GET` answers, and states of format 1, which earlier versions saved: their webhook endpoints get the first location. The URLs of its endpoints must be ones that registration accepts. JSON of more than 128 MiB must have one record a line, as `GET` answers it. Reads go on meanwhile; changes wait, and happen to the state that was loaded.',
        answers: { 200: { description: 'What there is now.', schema: 'StateReport' } },
        errors: ['NotFound'],
      },
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
      doc: {
        id: 'resetState',
        tag: 'Simulator state',
        summary: 'Reset the state',
        description:
          'Locations and API keys stay; all else is gone, faults too, and the clock is where the start put it.',
        answers: { 200: { description: 'What there is now.', schema: 'StateReport' } },
        errors: ['NotFound'],
      },
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

/** A body of chunks of text: a single one whole, several as a stream that makes the next one when there is room for it. */
export function textBody(chunks: Iterable<string>): string | ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  const first = iterator.next().value as string
  let next = iterator.next()
  if (next.done === true) return first
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      if (next.done === true) return controller.close()
      controller.enqueue(encoder.encode(next.value))
      await timers.nextTurn()
      next = iterator.next()
    },
  })
}
