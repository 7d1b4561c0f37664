/** The parts of an OpenAPI 3.1 document that the reference shows. */
export interface OpenApi {
  info: { title: string; description?: string }
  servers: readonly { url: string }[]
  tags: readonly { name: string; description?: string }[]
  paths: Readonly<Record<string, PathItem>>
  webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The operations of a path by method, and the parameters that they share. */
type PathItem = Readonly<Record<'get' | 'put' | 'post' | 'delete', Operation>> & {
  parameters?: readonly (Parameter | Reference)[]
}

export interface Operation {
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  parameters?: readonly (Parameter | Reference)[]
  requestBody?: { content: Content }
  responses: Readonly<Record<string, ResponseDoc | Reference>>
  'x-internal'?: boolean
}

export interface Reference {
  $ref: string
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
}

export interface ResponseDoc {
  description: string
  content?: Content
}

export type Content = Readonly<
  Record<string, { schema?: Schema; examples?: Readonly<Record<string, { value?: unknown } | Reference>> }>
>

export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  default?: unknown
  additionalProperties?: boolean | Schema
}

/** An operation with its place in the document. */
export interface Placed {
  method: string
  path: string
  operation: Operation
}

/** Returns the operations of each tag, in the order of the document. Webhooks are apart. */
export function operationsByTag({
  tags,
  paths,
}: OpenApi): { tag: string; description: string; operations: Placed[] }[] {
  const all = Object.entries(paths).flatMap(([path, { parameters = [], ...methods }]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-internal'] !== true)
      .map(([method, operation]): Placed => ({
        method: method.toUpperCase(),
        path,
        operation: { ...operation, parameters: [...parameters, ...(operation.parameters ?? [])] },
      })),
  )
  return tags
    .map(({ name, description = '' }) => ({
      tag: name,
      description,
      operations: all.filter(({ operation }) => operation.tags.includes(name)),
    }))
    .filter(({ operations }) => operations.length > 0)
}

/** Returns what a reference names: `#/components/parameters/limit`. Values without a reference are returned as they are. */
export function resolved<T extends object>(document: OpenApi, value: T | Reference): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T
  const [, , kind = '', name = ''] = value.$ref.split('/')
  return document.components[kind]?.[name] as T
}

/** Returns the name of the schema that a reference names: `Check` of `#/components/schemas/Check`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

/** Describes the limits of a schema in words: `1 to 64 characters`. */
export function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, default: preset } = schema
  return [
    range(ownBound(minimum), ownBound(maximum), ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    format !== undefined && format !== 'int64' ? format : '',
    preset === undefined ? '' : `default ${JSON.stringify(preset)}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Leaves out the bounds that JavaScript sets to every integer. */
function ownBound(bound: number | undefined): number | undefined {
  return Math.abs(bound ?? 0) === Number.MAX_SAFE_INTEGER ? undefined : bound
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `at least ${least}${unit}`
  return `${least === undefined ? 'at most' : `${least} to`} ${most}${unit}`
}
