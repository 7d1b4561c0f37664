import type { Route } from '../route.ts'
import { statusOfAnswer, type ErrorAnswerName } from './errors.ts'
import { examplesOf, type Examples } from './examples.ts'
import { headersOf } from './headers.ts'
import { refTo, type Json } from './json.ts'
import type { AnswerDoc, OperationDoc, OperationDocs } from './operation.ts'
import { headerParameter, pathParametersOf, queryParameter } from './parameters.ts'

/** What a route table says of a route. */
export type Row = Pick<Route, 'method' | 'path' | 'scope' | 'query'>

/** Where a route table stands. */
type Base = '/v1' | '/_sim' | '/t'

/**
 * The paths of a route table below its base, each row with what is documented of it.
 * @throws when a row is not documented, when a documented row does not exist, or when their query names differ.
 */
export function pathsOf(
  base: Base,
  rows: readonly Row[],
  docs: OperationDocs,
  examples: Examples,
): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const row of rows) {
    const doc = docs[`${row.method} ${row.path}`]
    if (doc === undefined) throw new Error(`${row.method} ${base}${row.path} is not documented.`)
    if (base === '/_sim') requireSameQuery(row, doc)
    const path = base + row.path.replace(/:(\w+)/g, '{$1}')
    const item = (paths[path] ??= parametersIn(row.path))
    item[row.method.toLowerCase()] = operationOf(base, row, doc, examples)
  }
  const known = rows.map(({ method, path }) => `${method} ${path}`)
  const left = Object.keys(docs).filter((key) => !known.includes(key))
  if (left.length > 0) throw new Error(`There is no such route any more: ${left.join(', ')}.`)
  return paths
}

/** Under `/_sim` names that a row does not take are refused, so the document must have exactly those that it takes. */
function requireSameQuery({ method, path, query: taken = [] }: Row, { query = [] }: OperationDoc): void {
  const documented = query.map((key) => key.replace(/\..*/, ''))
  const differs = documented.length !== taken.length || documented.some((name) => !taken.includes(name))
  if (differs)
    throw new Error(`${method} ${path} takes ${taken.join(', ')}; documented are ${documented.join(', ')}.`)
}

function parametersIn(path: string): Json {
  const parameters = pathParametersOf(path)
  return parameters.length === 0 ? {} : { parameters }
}

function operationOf(base: Base, { scope }: Row, doc: OperationDoc, examples: Examples): Json {
  const { id, tag, summary, internal, description = '', query = [], headers = [], body } = doc
  const parameters = [...query.map(queryParameter), ...headers.map(headerParameter)]
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
    responses: responsesOf(base, scope, doc, examples),
  }
}

function accessBy(base: Base, scope: Row['scope']): string {
  if (scope !== null) return `Needs a key with the scope \`${scope}\`.`
  return base === '/t' ? 'Needs no key: the token in the path is the access.' : 'Needs no key.'
}

function responsesOf(base: Base, scope: Row['scope'], doc: OperationDoc, examples: Examples): Json {
  const answers = Object.entries(doc.answers).map(([status, answer]) => [status, answerOf(answer, examples)])
  const errors = errorsOf(base, scope, doc).map((name) => [statusOfAnswer(name), refTo('responses', name)])
  const responses = Object.fromEntries([...answers, ...errors]) as Json
  if (Object.keys(responses).length < answers.length + errors.length)
    throw new Error(`${doc.id} has two answers of one status.`)
  return responses
}

/** Those that follow from the row, and those of its own, which come first where both have one of a status. */
function errorsOf(
  base: Base,
  scope: Row['scope'],
  { query, body, errors = [] }: OperationDoc,
): ErrorAnswerName[] {
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
