import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const ROOT = 'https://openapi.invalid/document'

/** Compiles the schema at a JSON pointer into the document, once. */
export function schemasOf(document: object): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, ROOT)
  return (pointer) => {
    const validate = ajv.getSchema(`${ROOT}#${encodeURI(pointer)}`)
    if (validate === undefined) throw new Error(`There is no schema at ${pointer}.`)
    return validate
  }
}

/** Returns the differences between a JSON text and its schema. */
export function issuesOf(validate: ValidateFunction, text: unknown): string[] {
  if (typeof text !== 'string') return ['has no body']
  if (validate(JSON.parse(text))) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `at ${instancePath || 'its root'} ${message} ${JSON.stringify(params)}`,
  )
}

/** The document with no object open to fields that it does not know: to clients it is open, and here it is judged. */
export function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)])) as T & {
    type?: unknown
    properties?: unknown
  }
  const isOpen = copy.type === 'object' && typeof copy.properties === 'object'
  return isOpen && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
}
