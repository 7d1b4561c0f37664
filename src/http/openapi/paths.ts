import type { Route } from '../route.ts'
import { statusOfAnswer, type ErrorAnswerName } from './errors.ts'
import { examplesOf, type Examples } from './examples.ts'
import { headersOf } from './headers.ts'
import { refTo, type Json } from './json.ts'
import type { AnswerDoc } from './operation.ts'
import { headerParameter, pathParametersOf, queryParameter } from './parameters.ts'
import { componentNameOf } from './schemas.ts'

/** The documented part of a route. */
export type Row = Pick<Route, 'method' | 'path' | 'scope' | 'query' | 'body'> & {
  doc: NonNullable<Route['doc']>
}

/** Base path of a route table. */
type Base = '/v1' | '/_sim' | '/t'

/** Returns the paths of a route table below its base. */
export function pathsOf(base: Base, rows: readonly Row[], examples: Examples): Record<string, Json> {
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
