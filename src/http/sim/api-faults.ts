import type { H3Event } from 'h3'
import {
  seededRandom,
  countInjection,
  leftOf,
  useUp,
  type ActiveFaults,
  type FaultRule,
} from '../../model/simulator/fault-rules.ts'
import type { ApiFault } from '../../model/simulator/fault.ts'
import { apiFaultKinds, apiFields, type ApiFaultKind } from '../../model/simulator/fault-kinds.ts'
import type { Authenticate } from '../auth/api-key.ts'
import { readJson } from '../body.ts'
import { errorBody } from '../refusals.ts'
import type { Handle, Reply } from '../route.ts'
import type { RequestContext } from '../request-context.ts'
import { timers } from '../../timers.ts'

/** Injects faults into requests under `/v1` only (contract section 10). */
export interface ApiFaults {
  /** False while no fault of a request is set: `around` would only run the handler. */
  readonly areSet: boolean
  /** Runs a handler, or responds instead of it. Adds the injected faults to the context. */
  around(event: H3Event, context: RequestContext, handle: Handle): Promise<Reply> | Reply
  /** Ends all delays. */
  stop(): void
}

type Rule = FaultRule<ApiFault>

export function createApiFaults(faults: ActiveFaults, authenticate: Authenticate): ApiFaults {
  const pause = createPause()

  /** Draws and counts the faults of a request in one transaction. Called only when a fault applies to the request. */
  async function plan(id: number, concerns: (rule: Rule) => boolean): Promise<readonly Injected[]> {
    const seed = faults.seed()
    const planned = await faults.update(id, ({ api }) =>
      api.filter(concerns).map((rule) => ({ fault: rule.fault, kinds: planKinds(rule, seed) })),
    )
    return planned?.filter(({ kinds }) => kinds.length > 0) ?? []
  }

  async function inject(
    injectedFaults: readonly Injected[],
    event: H3Event,
    context: RequestContext,
    handle: Handle,
  ) {
    const kinds = injectedFaults.flatMap((one) => one.kinds)
    context.faults = apiFaultKinds.filter((kind) => kinds.includes(kind))
    const waits = injectedFaults.map((one) =>
      one.kinds.includes('latency') ? (one.fault.latency_ms ?? 0) : 0,
    )
    await pause.wait(Math.max(...waits))
    if (kinds.includes('reset') || kinds.includes('error')) await notePush(event, context, authenticate)
    if (kinds.includes('reset')) context.broken = true
    const broken = injectedFaults.find((one) => one.kinds.includes('reset') || one.kinds.includes('error'))
    if (broken !== undefined) return injected(broken.fault.error_status ?? 503, context)
    try {
      return await handle()
    } finally {
      if (kinds.includes('lost_answer')) context.broken = true
    }
  }

  const injection: ApiFaults & { areSet: boolean } = {
    areSet: false,
    around(event, context, handle) {
      const { id, api } = faults.now()
      const { pathname } = event.url
      if (!/^\/v1(\/|$)/.test(pathname)) return handle()
      const isConcerned = (rule: Rule) => leftOf(rule) > 0 && concerns(rule.fault, event.req.method, pathname)
      if (!api.some(isConcerned)) return handle()
      return plan(id, isConcerned).then((injectedFaults) =>
        injectedFaults.length === 0 ? handle() : inject(injectedFaults, event, context, handle),
      )
    },
    stop: () => pause.end(),
  }
  const readFaults = () => void (injection.areSet = faults.now().api.length > 0)
  readFaults()
  faults.onReplaced(readFaults)
  return injection
}

/** Draws the kinds that a fault injects into a request, and counts them. */
function planKinds(rule: Rule, seed: number): readonly ApiFaultKind[] {
  const { fault, index } = rule
  const ordinal = ++rule.seen
  const drawn = apiFaultKinds.filter(
    (kind) => seededRandom(seed, kind, index, ordinal) < chanceOf(fault, kind),
  )
  const [ending] = endings.filter((kind) => drawn.includes(kind))
  const kinds = drawn.filter((kind) => kind === 'latency' || kind === ending)
  if (kinds.length > 0) useUp(rule)
  for (const kind of kinds) countInjection(rule, kind)
  return kinds
}

/** Notes sender and body of a push with an injected fault, so that the log shows whether it is retried. */
async function notePush(
  { req }: H3Event,
  context: RequestContext,
  authenticate: Authenticate,
): Promise<void> {
  if (req.method !== 'PUT') return
  const key = await authenticate(req.headers.get('authorization')).catch(() => undefined)
  context.locationId = key?.location_id
  // The log also gets a body that is not JSON; the fault decides the response.
  await readJson(req, NOTED_BYTES, (text) => (context.requestBody = text)).catch(() => {})
}

/** Longest body that a push with an injected fault notes for the log, in bytes. */
const NOTED_BYTES = 1024 * 1024

interface Injected {
  fault: ApiFault
  kinds: readonly ApiFaultKind[]
}

/** Faults that end a request, by precedence. */
const endings = ['reset', 'error', 'lost_answer'] as const

function chanceOf(fault: ApiFault, kind: ApiFaultKind): number {
  if (kind === 'latency') return fault.latency_ms === undefined ? 0 : 1
  return fault[apiFields[kind]] ?? 0
}

function concerns({ paths }: ApiFault, method: string, path: string): boolean {
  if (paths === undefined) return true
  return paths.some((pattern) => {
    const [wanted, only] = pattern.startsWith('/') ? [pattern, method] : pattern.split(' ').toReversed()
    return only === method && matches(wanted ?? '', path)
  })
}

/** Matches a path; `*` matches any characters including slashes. Searches each part once, so the time is linear. */
function matches(pattern: string, path: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return path === first
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = path.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return path.length - last.length >= at && path.endsWith(last)
}

function injected(status: number, { requestId }: RequestContext): Reply {
  const message = 'Injected fault (PUT /_sim/faults): the request was not processed. Run tabwire faults show.'
  return { status, body: errorBody('fault_injected', message, requestId) }
}

/** Creates delays in real time, which end at once when the service stops. */
function createPause() {
  const waiting = new Set<() => void>()
  let ended = false
  return {
    wait(ms: number): Promise<void> {
      if (ms === 0 || ended) return Promise.resolve()
      return new Promise((resolve) => {
        const end = () => {
          timers.clearTimeout(timer)
          waiting.delete(end)
          resolve()
        }
        const timer = timers.setTimeout(end, ms)
        waiting.add(end)
      })
    },
    end(): void {
      ended = true
      for (const end of waiting) end()
    },
  }
}
