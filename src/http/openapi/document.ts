import { simRoutes, type SimParts } from '../sim/routes.ts'
import type { Documented, Route } from '../route.ts'
import { tableRoutes, type TableRouteParts } from '../guest-table/routes.ts'
import { v1Routes, type V1Parts } from '../v1/routes.ts'
import { componentSchemas, describe, componentNameOf } from './schemas.ts'
import { errorResponses, statusOfAnswer, type ErrorAnswerName } from './errors.ts'
import { readExamples, examplesOf, type Examples } from './examples.ts'
import { headers, headersOf } from './headers.ts'
import { info, tagList } from './info.ts'
import { type Json, refTo } from './json.ts'
import { parameterComponents, headerParameter, pathParametersOf, queryParameter } from './parameters.ts'
import { signatureParameter, webhooksOf } from './webhooks.ts'
import type { AnswerDoc } from './operation.ts'

interface DocumentOptions {
  /** URL of the service without `/v1`; by default the one of `tabwire start`. */
  url?: string | undefined
  /** Names the signature header, `X-<name>-Signature`. */
  serviceName?: string | undefined
  /** Includes the simulator's operations under `/_sim` and `/t`. Default: `true`. */
  simulator?: boolean | undefined
}

/** Rows of the route tables. Their handlers are not called, so the tables get no dependencies. */
const rows = {
  v1: v1Routes({} as V1Parts),
  sim: simRoutes({} as SimParts),
  table: tableRoutes({} as TableRouteParts).filter(isDocumented),
}

/**
 * Returns the OpenAPI 3.1 document, created from the route tables and the validating schemas. It is deterministic, byte
 * for byte.
 */
export async function openApiDocument(options: DocumentOptions = {}): Promise<Json> {
  const { url = 'http://127.0.0.1:4100', serviceName = 'Service', simulator = true } = options
  const examples = await readExamples()
  return withoutUnused({
    openapi: '3.1.1',
    info: info(simulator),
    servers: [{ url, description: 'Tabwire' }],
    tags: tagList(simulator),
    paths: {
      ...pathsOf('/v1', simulator ? rows.v1 : rows.v1.map(withoutHeaders), examples),
      ...(simulator
        ? {
            ...pathsOf('/_sim', rows.sim, examples),
            ...pathsOf('/t', rows.table, examples),
          }
        : {}),
    },
    webhooks: webhooksOf({ trace: simulator }),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: simulator
            ? 'An API key. Its scopes are any of `read` (every GET under `/v1`, and `/_sim/metrics`), `write` (pushes, webhook endpoints and pings) and `simulate` (the rest of `/_sim`).'
            : 'An API key. Its scopes are any of `read` (every GET) and `write` (pushes, webhook endpoints and pings).',
        },
      },
      parameters: { ...parameterComponents, 'webhook-signature': signatureParameter(serviceName) },
      headers,
      responses: errorResponses(simulator),
      schemas: describe(componentSchemas()),
      examples,
    },
  })
}

/** Returns the document on one line, because indentation would be a third of its size. */
export async function openApiText(options: DocumentOptions = {}): Promise<string> {
  return `${JSON.stringify(await openApiDocument(options))}\n`
}

/** Leaves out the headers of `--trace`, which only Tabwire reads. */
function withoutHeaders({ doc: { headers: _headers, ...doc }, ...row }: Documented): Documented {
  return { ...row, doc }
}

function isDocumented(route: Route): route is Documented {
  return route.doc !== undefined
}

/** Returns the document without unreferenced components. */
function withoutUnused(document: Json & { components: Record<string, Json> }): Json {
  const { components, ...rest } = document
  const used = new Set<string>()
  const follow = (pointer: string) => {
    if (used.has(pointer)) return
    used.add(pointer)
    const [kind = '', name = ''] = pointer.split('/').slice(2)
    references(components[kind]?.[name]).forEach(follow)
  }
  for (const pointer of references(rest)) follow(pointer)
  const isUsed = (kind: string, name: string) =>
    kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`)
  const left = Object.entries(components).map(([kind, all]) => [
    kind,
    Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(kind, name))),
  ])
  return { ...rest, components: Object.fromEntries(left) as Json }
}

function references(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer)
}

/** The documented part of a route. */
type Row = Pick<Route, 'method' | 'path' | 'scope' | 'query' | 'body'> & {
  doc: NonNullable<Route['doc']>
}

/** Base path of a route table. */
type Base = '/v1' | '/_sim' | '/t'

/** Returns the paths of a route table below its base. */
function pathsOf(base: Base, rows: readonly Row[], examples: Examples): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const row of rows) {
    const path = base + row.path.replace(/:(\w+)/g, '{$1}')
    const item = (paths[path] ??= parametersIn(row.path))
    item[row.method.toLowerCase()] = operationOf(base, row, examples)
  }
  return paths
}

function parametersIn(path: string): Json {
  const parameters = pathParametersOf(path)
  return parameters.length === 0 ? {} : { parameters }
}

function operationOf(base: Base, row: Row, examples: Examples): Json {
  const { scope, query = {}, doc } = row
  const { id, tag, summary, internal, description = '', headers = [] } = doc
  const body = row.body === undefined ? undefined : componentNameOf(row.body)
  const parameters = [...Object.values(query).map(queryParameter), ...headers.map(headerParameter)]
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, accessBy(base, scope)].filter((text) => text !== '').join('\n\n'),
    ...(base === '/v1' ? {} : { 'x-simulator-only': true }),
    ...(internal === true ? { 'x-internal': true } : {}),
    security: scope === null ? [] : [{ apiKey: [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: { required: true, content: json(refTo('schemas', body), examplesOf(examples, body)) },
        }),
    responses: responsesOf(base, row, examples),
  }
}

function accessBy(base: Base, scope: Row['scope']): string {
  if (scope !== null) return `Requires an API key with scope \`${scope}\`.`
  return base === '/t' ? 'Requires no API key: the token in the path gives access.' : 'Requires no API key.'
}

function responsesOf(base: Base, row: Row, examples: Examples): Json {
  const { doc } = row
  const answers = Object.entries(doc.answers).map(([status, answer]) => [status, answerOf(answer, examples)])
  const errors = errorsOf(base, row).map((name) => [statusOfAnswer(name), refTo('responses', name)])
  const responses = Object.fromEntries([...answers, ...errors]) as Json
  if (Object.keys(responses).length < answers.length + errors.length)
    throw new Error(`${doc.id} has two responses with the same status.`)
  return responses
}

/** Returns the errors of a route: those of its kind, replaced by its own where the status is the same. */
function errorsOf(base: Base, { scope, query, body, doc: { errors = [] } }: Row): ErrorAnswerName[] {
  const bodily = [
    base === '/_sim' ? 'BadQueryOrBody' : 'BadBody',
    'PayloadTooLarge',
    'UnsupportedMediaType',
    'ValidationFailed',
  ] as const
  const bad = query === undefined && base !== '/_sim' ? 'BadRequest' : 'BadQuery'
  const usual = [
    ...(body === undefined ? ([bad] as const) : bodily),
    ...(scope === null ? (['ForbiddenPage'] as const) : (['Unauthorized', 'Forbidden'] as const)),
    ...(base === '/v1' ? (['RateLimited', 'Unavailable'] as const) : (['NotNow'] as const)),
    'InternalError' as const,
  ]
  const own = new Set(errors.map(statusOfAnswer))
  return [...errors, ...usual.filter((name) => !own.has(statusOfAnswer(name)))]
}

function answerOf({ description, schema, type, headers: names }: AnswerDoc, examples: Examples): Json {
  const headers = headersOf(names)
  if (type !== undefined) return { description, headers, content: { [type]: { schema: { type: 'string' } } } }
  if (schema === undefined) return { description, headers }
  if (typeof schema === 'string')
    return {
      description,
      headers,
      content: json(refTo('schemas', schema), examplesOf(examples, schema)),
    }
  return { description, headers, content: json({ anyOf: schema.map((name) => refTo('schemas', name)) }, {}) }
}

function json(schema: Json, examples: Json): Json {
  return { 'application/json': { schema, ...examples } }
}
