/** A JSON object of the document. */
export type Json = Record<string, unknown>

/** A reference to a component. */
export function refTo(kind: 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples', name: string) {
  return { $ref: `#/components/${kind}/${name}` }
}

/**
 * Adapts a JSON Schema for client generators: integers have 64 bits without JavaScript's bounds, and responses may have
 * additional fields, which strict clients would otherwise refuse.
 */
export function tidy(schema: Json, io: 'input' | 'output'): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.type === 'integer') schema.format = 'int64'
  // Some generators treat fields with a default as required.
  if (io === 'input') delete schema.default
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
}
