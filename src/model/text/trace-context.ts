/** W3C Trace Context of a request, as its events keep it. */
export interface TraceContext {
  /** In the form of version 00: `00-<trace id>-<span id of the caller>-<flags>`. */
  traceparent: string
  /** Data of tracing systems, unchanged; absent when the request had none, or an invalid one. */
  tracestate?: string
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Characters of a `tracestate` that is passed on; W3C Trace Context demands at least that many. */
const LONGEST_TRACESTATE = 512
const MOST_MEMBERS = 32

const tenant = '[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}'
const member = new RegExp(
  `^([a-z][a-z0-9_*/-]{0,255}|${tenant})=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{0,255}[\\x21-\\x2b\\x2d-\\x3c\\x3e-\\x7e]$`,
)

/**
 * Returns the trace context in two headers; `undefined` without a valid `traceparent`. An invalid `tracestate` is
 * ignored. A `traceparent` of a later version is read as the W3C demands: ids and the flag `sampled` alone.
 */
export function readTraceContext(
  traceparent: string | null,
  tracestate: string | null,
): TraceContext | undefined {
  if (traceparent === null) return undefined
  const [, version, traceId, spanId, flags = '', more] = traceparentForm.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined
  if (version === '00' && more !== undefined) return undefined
  if (isZero(traceId) || isZero(spanId)) return undefined
  const known = version === '00' ? SAMPLED | RANDOM : SAMPLED
  const kept = (Number.parseInt(flags, 16) & known).toString(16).padStart(2, '0')
  const read: TraceContext = { traceparent: `00-${traceId}-${spanId}-${kept}` }
  if (tracestate !== null && isTracestate(tracestate)) read.tracestate = tracestate
  return read
}

/** Returns the trace context that an attempt is sent with: its own `traceparent`, and the `tracestate` of its event. */
export function sentContext(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined) return undefined
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** Flags that the W3C has defined. All others must be 0. */
const SAMPLED = 0x01
const RANDOM = 0x02

function isZero(id: string): boolean {
  return /^0+$/.test(id)
}

/** Returns true for a `traceparent` in the form that events and attempts keep. */
export function isTraceparent(text: string): boolean {
  return readTraceContext(text, null)?.traceparent === text
}

/** Returns true for a valid `tracestate` with a member and at most {@link LONGEST_TRACESTATE} characters. */
export function isTracestate(text: string): boolean {
  if (text.length > LONGEST_TRACESTATE) return false
  // A list may have empty members, which count as members.
  const members = text.split(',').map((one) => one.replace(/^[ \t]+|[ \t]+$/g, ''))
  const keys = members.filter((one) => one !== '').map((one) => member.exec(one)?.[1])
  return (
    members.length <= MOST_MEMBERS &&
    keys.length > 0 &&
    !keys.includes(undefined) &&
    new Set(keys).size === keys.length
  )
}

/** Returns the trace id of a `traceparent`: 32 hex digits. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35)
}

/** Returns the `traceparent` of a span below a trace context: the same trace id and flags. */
export function childOf({ traceparent }: TraceContext, spanId: string): string {
  return `${traceparent.slice(0, 36)}${spanId}${traceparent.slice(52)}`
}
