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

interface Operation {
  operationId: string
  security: { apiKey?: [string] }[]
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, unknown>
}

const document = JSON.parse(readFileSync(`${fixtures}openapi.json`, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
export const { schemas } = document.components

export const operations: readonly Documented[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      scope: operation.security[0]?.apiKey?.[0],
      body: operation.requestBody?.content['application/json'].schema,
      queries: (operation.parameters ?? []).filter((parameter) => parameter.in === 'query'),
      statuses: Object.keys(operation.responses).map(Number),
    })),
)
