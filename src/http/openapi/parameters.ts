import { deliveryWords } from '../../model/delivery.ts'
import { pageLimit } from '../../model/simulator/list-queries.ts'
import { findingCodes } from '../../model/simulator/report.ts'
import { pushWords } from '../../model/simulator/request-entry.ts'
import { refTo, type Json } from './json.ts'

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }

/** Query parameters by key. A key may have a suffix after a dot, which is not part of the parameter's name. */
const queryParameters = {
  limit: {
    description: `Maximum number of records, 1 to ${pageLimit.max}.`,
    schema: { type: 'integer', minimum: 1, maximum: pageLimit.max, default: pageLimit.default },
  },
  cursor: { description: '`next_cursor` of the previous page.', schema: text },
  order: {
    description:
      'Order of the list: `desc` for newest first, `asc` for oldest first. Cursors follow this order.',
    schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
  },
  'status.check': {
    description: 'Only checks with this status.',
    schema: refTo('schemas', 'CheckStatus'),
  },
  'status.delivery': {
    description:
      'Only deliveries with this status. `pending` includes `retrying` (after a failed attempt) and `held` (delayed by a fault).',
    schema: { type: 'string', enum: [...deliveryWords] },
  },
  'outcome.delivery': {
    description: 'Only deliveries whose latest attempt has this outcome.',
    schema: refTo('schemas', 'AttemptOutcome'),
  },
  'outcome.push': {
    description:
      'Only pushes with this outcome. `refused` pushes got an error before a decision; `fault` is an injected one.',
    schema: { type: 'string', enum: [...pushWords] },
  },
  'status.endpoint': {
    description: 'Only webhook endpoints with this status.',
    schema: refTo('schemas', 'WebhookEndpointStatus'),
  },
  attempt: {
    description: 'Number of the attempt (default: the latest).',
    schema: { type: 'integer', minimum: 1 },
  },
  q: { description: 'Only records that contain this text.', schema: { type: 'string', maxLength: 255 } },
  kind: { description: 'Only requests of this kind.', schema: { type: 'string', enum: ['push'] } },
  failed: {
    description: 'True for requests with a 4xx or 5xx status, false for all others.',
    schema: { type: 'boolean' },
  },
  finding: {
    description: 'Only pushes with this finding, or `any` finding.',
    schema: { type: 'string', enum: ['any', ...findingCodes] },
  },
  table: { description: 'Only checks at the table with this number.', schema: text },
  external_check_id: { description: "Only records of this check, by the caller's identifier.", schema: text },
  endpoint_id: { description: 'Only deliveries to this webhook endpoint.', schema: text },
  event_id: { description: 'Only deliveries of this event.', schema: text },
  type: {
    description: 'Only this event type.',
    schema: refTo('schemas', 'EventTypeOrPing'),
  },
  'from.deliveries': {
    description: 'Only deliveries that were created or attempted at this time or later.',
    schema: time,
  },
  'to.deliveries': {
    description: 'Only deliveries that were created or attempted before this time.',
    schema: time,
  },
  'from.events': { description: 'Only events created at this time or later.', schema: time },
  'to.events': { description: 'Only events created before this time.', schema: time },
  'from.requests': { description: 'Only requests that ended at this time or later.', schema: time },
  'to.requests': { description: 'Only requests that ended before this time.', schema: time },
  'from.attempts': { description: 'Only attempts that started at this time or later.', schema: time },
  'to.attempts': { description: 'Only attempts that started before this time.', schema: time },
  'since.report': { description: 'Only findings since this time.', schema: time },
  all_closed: {
    description: 'True to report every open check as a problem.',
    schema: { type: 'boolean', default: false },
  },
  'since.stream': {
    description:
      'Send the requests and attempts since this time first, then the event `live`, then live events.',
    schema: time,
  },
  listener: {
    description:
      'Also send the attempts for this running `tabwire listen`, by the name in the host of its endpoints.',
    schema: text,
  },
} satisfies Record<string, { description: string; schema: Json }>

export type QueryParameter = keyof typeof queryParameters

const traceHeaders = {
  traceparent: {
    description:
      "The caller's position in a distributed trace (W3C Trace Context). Only with `--trace`; ignored when it is invalid. Deliveries continue this trace with a new span id per attempt.",
    schema: { type: 'string', pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  tracestate: {
    description:
      'Data of tracing systems (W3C Trace Context). Only with `--trace` and `traceparent`. Deliveries repeat up to 512 characters unchanged.',
    schema: text,
    example: 'vendor=value',
  },
} satisfies Record<string, { description: string; schema: Json; example: string }>

/** Headers of requests that cause events, and of deliveries. */
export const traceParameters = ['traceparent', 'tracestate'] as const

/** Parameters as components, because many operations share them. */
export const parameterComponents: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(
    Object.entries(queryParameters).map(([key, parameter]) => [
      key,
      { name: key.replace(/\..*/, ''), in: 'query', required: false, ...parameter },
    ]),
  ),
  traceparent: traceHeader('traceparent'),
  tracestate: traceHeader('tracestate'),
}

function traceHeader(name: keyof typeof traceHeaders): Json {
  return { name, in: 'header', required: false, ...traceHeaders[name] }
}

export function queryParameter(key: QueryParameter): Json {
  return refTo('parameters', key)
}

const guestId = {
  description:
    'Secret random id that identifies a guest and their claims. The browser creates and keeps it; the service stores only its hash.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{22,64}$' },
  example: 'random-id-of-this-guest-01',
}

/** Request headers, with keys as above. */
const headerParameters = {
  'X-Guest-Id': { ...guestId, required: true },
  'X-Guest-Id.optional': { ...guestId, required: false },
  'Accept-Language': {
    description: 'The first language formats amounts and times.',
    required: false,
    schema: text,
    example: 'en-GB',
  },
  'Last-Event-ID': {
    description:
      'Id of the last message that the client has. The messages since that one come first, then the event `live`. An unknown id is ignored.',
    required: false,
    schema: text,
    example: 'k3Jx0Qm2:0:118:0:42',
  },
} satisfies Record<string, { description: string; required: boolean; schema: Json; example: string }>

export type HeaderParameter = keyof typeof headerParameters | (typeof traceParameters)[number]

export function headerParameter(key: HeaderParameter): Json {
  if (key === 'traceparent' || key === 'tracestate') return refTo('parameters', key)
  return { name: key.split('.')[0], in: 'header', ...headerParameters[key] }
}

const pathParameters: Readonly<Record<string, Json>> = {
  external_check_id: {
    description:
      "The caller's identifier of the check, without control characters, and neither `.` nor `..`.",
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$' },
    example: 'table-12-dinner',
  },
  id: { description: 'The identifier that the service assigned.', schema: { type: 'string', minLength: 1 } },
  number: {
    description: 'The number of the table.',
    schema: { type: 'string', minLength: 1, maxLength: 64 },
    example: '12',
  },
  token: {
    description:
      "Secret token of the table's address, which gives access to the table. `GET /_sim/tables/{number}` returns it.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{22}$' },
    example: 'ExampleTokenOfATable__',
  },
}

/** Returns the parameters of a path such as `/claims/:id`. @throws for an undocumented one. */
export function pathParametersOf(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const documented = pathParameters[name]
    if (documented === undefined) throw new Error(`The path parameter ${name} is not documented.`)
    return { name, in: 'path', required: true, ...documented }
  })
}
