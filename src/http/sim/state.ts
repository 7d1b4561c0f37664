import { Refusal } from '../../model/refusal.ts'
import { savedStateBody, type State } from '../../model/simulator/state.ts'
import { stateText } from '../../model/simulator/state-text.ts'
import { invalid } from '../../model/validation.ts'
import type { RegistrationParts } from '../v1/routes.ts'
import { ok, type Documented, type Reply } from '../route.ts'
import { readState } from './state-body.ts'
import { timers } from '../../timers.ts'

/** State controls; each call returns the view for the response. */
export interface StateParts extends Pick<RegistrationParts, 'judgeDestination'> {
  /** `undefined` when the program passed its own clock. */
  state: ReplaceableState | undefined
}

interface ReplaceableState {
  show(): Promise<State>
  load(state: State, signal: AbortSignal): Promise<object>
  reset(signal: AbortSignal): Promise<object>
}

/** `GET` and `PUT /_sim/state`, `POST /_sim/reset` (contract section 10). */
export function stateRoutes({ state, judgeDestination }: StateParts): Documented[] {
  const replaced = async (report: Promise<object>): Promise<Reply> => ok(await report)
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
        summary: 'Retrieve the whole state',
        description:
          'Returns all records with signing secrets and the clock, without API keys. The JSON has one record per line and is streamed.',
        answers: { 200: { description: 'The state, which can be loaded unchanged.', schema: 'State' } },
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
      // Read and validated in pieces, because it may have a gigabyte.
      body: savedStateBody,
      doc: {
        id: 'loadState',
        tag: 'Simulator state',
        summary: 'Replace the whole state',
        description:
          'Accepts the response of `GET` and states of format 1, whose webhook endpoints get the first location. Endpoint URLs must be valid for registration. JSON of more than 128 MiB must have one record per line. Changes wait until the load ends; reads continue.',
        answers: { 200: { description: 'Counts of the records in the new state.', schema: 'StateReport' } },
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
          'Deletes everything except locations and API keys, including faults. The clock returns to its start value.',
        answers: { 200: { description: 'Counts of the records in the new state.', schema: 'StateReport' } },
        errors: ['NotFound'],
      },
      handle: (call) => replaced(replaceable(state).reset(call.gone())),
    },
  ]
}

/**
 * Returns the state with endpoint URLs in normal form.
 * @throws Refusal `validation_failed` with all URLs that registration refuses (contract section 9).
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
    'This simulator uses a custom clock, which a state cannot set. Create it without a clock to save or load a state.',
  )
}

/** Returns a body: a single chunk as text, several as a stream that creates chunks on demand. */
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
