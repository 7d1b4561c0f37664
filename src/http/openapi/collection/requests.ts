import type { Json } from '../json.ts'
import { PUSH_EXAMPLE, stepsFor, type PushedExample, type Step } from './steps.ts'

/** A request of a collection. Texts may contain variables, as `{{name}}`. */
export interface CollectionRequest {
  /** Unique in the collection. */
  name: string
  /** The operation's tag, by which requests are grouped. */
  tag: string
  description: string
  /** Upper case. */
  method: string
  /** Path below the base URL, without a query. */
  path: string
  query: Readonly<Record<string, string>>
  needsKey: boolean
  body: unknown
  /** Variables for later requests, each with its path in the response, such as `data.0.id`. */
  saves: Readonly<Record<string, string>>
}

export interface Collection {
  title: string
  requests: readonly CollectionRequest[]
  /** Variables with their first values. The API key is none of them. */
  variables: Readonly<Record<string, string>>
}

interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: readonly [string]
  security: readonly Json[]
  requestBody?: { content: Record<string, { examples?: Record<string, { $ref: string }> }> }
}

interface Document {
  info: { title: string }
  servers: readonly [{ url: string }]
  /** Operations by path and method. A path may also have `parameters`. */
  paths: Record<string, Record<string, Operation>>
  components: { examples: Record<string, { value: unknown }> }
}

/** Returns the requests that use the operations of an OpenAPI document, in an order in which each succeeds. */
export function collectionOf(openApi: Json): Collection {
  const document = openApi as unknown as Document
  const operations = operationsOf(document)
  const { examples } = document.components
  const pushed = examples[`CheckPush.${PUSH_EXAMPLE}`]?.value as PushedExample
  const registration = examples.WebhookEndpointRegistration?.value as { url: string }
  return {
    title: document.info.title,
    requests: stepsFor(pushed).flatMap((step) => {
      const found = operations.get(step.operation)
      return found === undefined ? [] : [requestOf(step, found, document)]
    }),
    variables: {
      baseUrl: document.servers[0].url,
      webhookUrl: registration.url,
      externalCheckId: checkIdOf(document),
    },
  }
}

/** The example of the path parameter, as the document has it. */
function checkIdOf({ paths }: Document): string {
  const parameters = Object.values(paths).flatMap(parametersOf)
  return parameters.find(({ name }) => name === 'external_check_id')?.example ?? ''
}

function parametersOf(item: { parameters?: unknown }) {
  return (item.parameters ?? []) as readonly { name: string; example?: string }[]
}

interface Found {
  method: string
  path: string
  operation: Operation
}

function operationsOf({ paths }: Document): ReadonlyMap<string, Found> {
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({ method, path, operation })),
  )
  return new Map(found.map((one) => [one.operation.operationId, one]))
}

function requestOf(step: Step, { method, path, operation }: Found, document: Document): CollectionRequest {
  const { name = operation.summary, note, query = {}, saves = {} } = step
  return {
    name: name.replace(/\.$/, ''),
    tag: operation.tags[0],
    description: [operation.description, note].filter((text) => text !== undefined).join('\n\n'),
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_, parameter: string) => valueOf(step, parameter)),
    query,
    needsKey: operation.security.length > 0,
    body: bodyOf(step, operation, document),
    saves,
  }
}

function valueOf({ operation, path = {} }: Step, parameter: string): string {
  const value = path[parameter]
  if (value === undefined) throw new Error(`${operation} has no value for ${parameter}.`)
  return value
}

function bodyOf({ example, body = {} }: Step, { requestBody }: Operation, { components }: Document): unknown {
  const examples = requestBody?.content['application/json']?.examples
  if (examples === undefined) return undefined
  const reference = example === undefined ? Object.values(examples)[0] : examples[example]
  const value = components.examples[reference?.$ref.split('/').at(-1) ?? '']?.value
  return { ...(value as Json), ...body }
}
