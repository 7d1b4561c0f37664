import { eventTypes } from '../../model/event.ts'
import { findingCodes } from '../../model/simulator/report.ts'
import { refTo, type Json } from './json.ts'

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }

/** Parameters of queries, by the name under which operations ask for them; the part behind a dot is the name's alone. */
export const queryParameters = {
  limit: {
    description: 'How many at most, 1 to 100.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
  cursor: { description: '`next_cursor` of the page before.', schema: text },
  order: {
    description:
      'The newest first, or with `asc` the oldest; a cursor goes on in the order that is asked for.',
    schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
  },
  'status.check': {
    description: 'Only checks with this status.',
    schema: { type: 'string', enum: ['open', 'closed'] },
  },
  'status.delivery': {
    description: 'Only deliveries with this status.',
    schema: { type: 'string', enum: ['pending', 'delivered', 'dead'] },
  },
  'status.endpoint': {
    description: 'Only webhook endpoints with this status.',
    schema: { type: 'string', enum: ['enabled', 'disabled'] },
  },
  q: { description: 'Only what has this text in it.', schema: { type: 'string', maxLength: 255 } },
  kind: { description: 'Only pushes.', schema: { type: 'string', enum: ['push'] } },
  failed: {
    description: 'Only what was refused or failed, or only what was not.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  finding: {
    description: 'Only pushes with this finding, or with any.',
    schema: { type: 'string', enum: ['any', ...findingCodes] },
  },
  table: { description: 'Only checks at the table with this number.', schema: text },
  external_check_id: { description: "Only of this check, by the POS's own identifier.", schema: text },
  endpoint_id: { description: 'Only to this webhook endpoint.', schema: text },
  event_id: { description: 'Only of this event.', schema: text },
  type: {
    description: 'Only of this event type.',
    schema: { type: 'string', enum: [...eventTypes, 'ping'] },
  },
  'since.report': { description: 'Only what was found since then.', schema: time },
  'since.stream': {
    description: 'Tell first what began then or later, then `live`, then what happens.',
    schema: time,
  },
} satisfies Record<string, { description: string; schema: Json }>

export type QueryParameter = keyof typeof queryParameters

/** What every list takes (contract section 3). */
export const paging: readonly QueryParameter[] = ['limit', 'cursor']

/** What every list of the simulator takes. */
export const simPaging: readonly QueryParameter[] = [...paging, 'order']

/** The query parameters as components: most are those of many operations. */
export const parameterComponents: Readonly<Record<string, Json>> = Object.fromEntries(
  Object.entries(queryParameters).map(([key, parameter]) => [
    key,
    { name: key.replace(/\..*/, ''), in: 'query', required: false, ...parameter },
  ]),
)

export function queryParameter(key: QueryParameter): Json {
  return refTo('parameters', key)
}

const guestId = {
  description:
    'Whose phone it is: an id that it has made up for itself and keeps, by which guests know their own claims. The service keeps its hash, and shows neither.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{22,64}$' },
  example: 'a-phone-that-made-this-up',
}

/** Headers of requests, by name as above. */
export const headerParameters = {
  'X-Guest-Id': { ...guestId, required: true },
  'X-Guest-Id.optional': { ...guestId, required: false },
  'Accept-Language': {
    description: 'The first language is the one that amounts and times are written in.',
    required: false,
    schema: text,
    example: 'en-GB',
  },
} satisfies Record<string, { description: string; required: boolean; schema: Json; example: string }>

export type HeaderParameter = keyof typeof headerParameters

export function headerParameter(key: HeaderParameter): Json {
  return { name: key.split('.')[0], in: 'header', ...headerParameters[key] }
}

const pathParameters: Readonly<Record<string, Json>> = {
  external_check_id: {
    description: "The caller's own identifier of the check.",
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'table-12-dinner',
  },
  id: { description: 'The identifier that the service gave.', schema: { type: 'string', minLength: 1 } },
  number: {
    description: 'The number of the table.',
    schema: { type: 'string', minLength: 1, maxLength: 64 },
    example: '12',
  },
  token: {
    description:
      "The secret part of the table's address, which gives access to it; `GET /_sim/tables/{number}` returns it.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{22}$' },
    example: 'AddressOfNobodysTable_',
  },
}

/** The parameters that a path such as `/claims/:id` has. @throws when one is not documented. */
export function pathParametersOf(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const documented = pathParameters[name]
    if (documented === undefined) throw new Error(`The path parameter ${name} is not documented.`)
    return { name, in: 'path', required: true, ...documented }
  })
}
