import { readFileSync } from 'node:fs'
import { fixtures } from '../../support/cli.ts'
import type { Schema } from './from-schema.ts'

/** An operation of the OpenAPI document, as far as requests are made from it. */
export interface Documented {
  id: string
  method: string
  path: string
  /** The scope that it needs; `undefined` where it needs no key. */
  scope: string | undefined
  /** The schema of its body; `undefined` where it has none. */
  body: Schema | undefined
  queries: readonly { name: string; schema: Schema }[]
  statuses: readonly number[]
}

interface Parameter {
  name: string
  in: string
  schema: Schema
}

interface Operation {
  operationId: string
  security: { apiKey?: [string] }[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, unknown>
}

const document = JSON.parse(readFileSync(`${fixtures}openapi.json`, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}
export const { schemas, parameters } = document.components

export const operations: readonly Documented[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      scope: operation.security[0]?.apiKey?.[0],
      body: operation.requestBody?.content['application/json'].schema,
      queries: (operation.parameters ?? []).map(resolved).filter((parameter) => parameter.in === 'query'),
      statuses: Object.keys(operation.responses).map(Number),
    })),
)

/** A parameter of an operation, or the component that it refers to. */
function resolved(parameter: Parameter | { $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  const component = parameters[parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1)]
  if (component === undefined) throw new Error(`There is no ${parameter.$ref}.`)
  return component
}
