import { inStoredForm, type StoredEvent } from '../../model/event.ts'
import { Refusal } from '../../model/refusal.ts'
import type { State } from '../../model/simulator/state.ts'
import {
  brokenRelations,
  inCurrentFormat,
  issuesOfRecords,
  savedStateBody,
} from '../../model/simulator/state-checks.ts'
import { createStateScanner, LONGEST_DOCUMENT, stateText } from '../../model/simulator/record-lines.ts'
import { invalid, type ValidationIssue } from '../../model/validation.ts'
import { timers } from '../../timers.ts'
import { decode, notUtf8, parseJson } from '../body.ts'
import { type Documented, ok, type Reply } from '../route.ts'
import type { RegistrationParts } from '../v1/routes.ts'

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
        body: textBody(stateText(await replaceable(state).show())),
      }),
    },
    {
      method: 'PUT',
      path: '/state',
      scope: 'simulate',
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
    'This simulator uses a custom clock, which a state cannot set. Create it without a clock to save, load or reset a state.',
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

/** Passes on the chunks of a body of at most `limit` bytes as they arrive. */
type ReadChunks = (limit: number, take: (chunk: Uint8Array) => void) => Promise<void>

/** Limit of a state with one record per line, in bytes. It is parsed while it arrives; its records must fit twice in memory. */
const LONGEST_STATE = 1024 * 1024 * 1024

/** Records to validate before yielding to other requests: a few milliseconds. */
const SLICE = 200

/**
 * Reads a state of the current format or format 1. Validates it in slices, between which other requests run.
 * @throws Refusal `validation_failed` with all issues of single records, or if there are none, of relations between
 * records; `invalid_json` and `payload_too_large` like {@link readJsonOfState}.
 */
async function readState(readChunks: ReadChunks): Promise<State> {
  const state = inCurrentFormat(await readJsonOfState(readChunks))
  await requireNone(issuesOfRecords(state))
  await requireNone(brokenRelations(state as State))
  const { events, ...rest } = state as State
  return { ...rest, events: await asStored(events) }
}

/** Returns events with their bodies in the stored form. @throws Refusal `validation_failed` for one that has none. */
async function asStored(events: State['events']): Promise<State['events']> {
  const stored: StoredEvent[] = []
  for (const event of events) {
    const body = inStoredForm(event.body)
    if (body === undefined)
      throw invalid([{ path: `events[${stored.length}].body`, message: 'must have fewer levels of nesting' }])
    stored.push({ ...event, body })
    if (stored.length % SLICE === 0) await timers.nextTurn()
  }
  return stored
}

async function requireNone(found: Iterable<readonly ValidationIssue[]>): Promise<void> {
  const issues: ValidationIssue[] = []
  let looks = 0
  for (const some of found) {
    issues.push(...some)
    if (++looks % SLICE === 0) await timers.nextTurn()
  }
  if (issues.length > 0) throw invalid(issues)
}

/**
 * Reads the JSON of a state. With one record per line, as in `GET /_sim/state`, it is parsed while it arrives.
 * @throws Refusal `invalid_json`, and `payload_too_large` for other layouts above 128 MiB.
 */
async function readJsonOfState(readChunks: ReadChunks): Promise<unknown> {
  const fields = new Map<string, unknown>()
  let records: unknown[] = []
  const scanner = createStateScanner({
    field: (name, json) => fields.set(name, JSON.parse(json)),
    list: (name) => fields.set(name, (records = [])),
    record: (json) => records.push(JSON.parse(json)),
  })
  /** Chunks for other layouts, which are parsed at the end. */
  let whole: Uint8Array[] = []
  let size = 0
  let byLine = true
  await readChunks(LONGEST_STATE, (chunk) => {
    byLine = scanner.take(chunk)
    size += chunk.byteLength
    if (size <= LONGEST_DOCUMENT) whole.push(chunk)
    else if (byLine) whole = []
    else throw otherLayout()
  })
  if (scanner.end()) return Object.fromEntries(fields)
  if (size > LONGEST_DOCUMENT) throw otherLayout()
  const bytes = Buffer.concat(whole)
  const text = decode(bytes)
  if (text === undefined) throw notUtf8(bytes)
  return parseJson(text)
}

function otherLayout(): Refusal {
  const message = `A state of more than ${LONGEST_DOCUMENT} bytes must have one record per line, as in GET /_sim/state. Use tabwire state load, which converts any layout.`
  return new Refusal('payload_too_large', message, { limit: LONGEST_DOCUMENT })
}
