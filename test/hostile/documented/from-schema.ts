import fc from 'fast-check'

/** The keywords of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
}

/** Generates values of a schema, without rules that only the description states. Lists and texts are short. */
export function fromSchema(schema: Schema, schemas: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> {
  const of = (inner: Schema) => fromSchema(inner, schemas)
  if (schema.$ref !== undefined) return of(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {})
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return fc.oneof(...either.map(of))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => of({ ...schema, type })))
  switch (schema.type) {
    case 'object':
      return objectFrom(schema, of)
    case 'array': {
      const { minItems: minLength = 0, maxItems = 3 } = schema
      return fc.array(of(schema.items ?? {}), {
        minLength,
        maxLength: Math.max(minLength, Math.min(maxItems, 3)),
      })
    }
    case 'string':
      return textFrom(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000, 1_000_000) })
    case 'number':
      return fc.integer({ min: 1, max: 9_999 }).map((thousandths) => thousandths / 1_000)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue()
  }
}

function objectFrom(
  { properties = {}, required = [] }: Schema,
  of: (inner: Schema) => fc.Arbitrary<unknown>,
) {
  const fields = Object.entries(properties).map(([name, inner]): [string, fc.Arbitrary<unknown>] => [
    name,
    of(inner),
  ])
  return fc.record(Object.fromEntries(fields), { requiredKeys: required })
}

function textFrom({ format, pattern, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https', 'http'] })
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 20)) })
}
