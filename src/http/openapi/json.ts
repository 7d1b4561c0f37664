/** A JSON object of the document. */
export type Json = Record<string, unknown>

/** A reference to a component. */
export function refTo(kind: 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples', name: string) {
  return { $ref: `#/components/${kind}/${name}` }
}

/**
 * Makes a JSON Schema fit for a document that clients are made from: whole numbers are of 64 bits, without the bounds that
 * JavaScript has for them; answers may get more fields, which strict clients would otherwise refuse.
 */
export function tidy(schema: Json, io: 'input' | 'output'): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.type === 'integer') schema.format = 'int64'
  // Of a field with a default, some generators make one that has to be given.
  if (io === 'input') delete schema.default
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
}
