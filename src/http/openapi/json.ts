/** A JSON object of the document. */
export type Json = Record<string, unknown>

/** A reference to a component. */
export function refTo(kind: 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples', name: string) {
  return { $ref: `#/components/${kind}/${name}` }
}

/** Returns true for a bound that every integer of the service has, because JavaScript has no exact ones beyond. */
export function isSafeBound(key: string, value: unknown): boolean {
  return (
    (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
    (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  )
}

/**
 * Adapts a JSON Schema for client generators: large integers have 64 bits, and responses may have additional fields, which
 * strict clients would otherwise refuse. Only requests have JavaScript's bounds of integers, because they are refused there.
 */
export function tidy(schema: Json, io: 'input' | 'output'): void {
  if (schema.type === 'integer' && !fitsInt32(schema)) schema.format = 'int64'
  // Some generators write the pattern between slashes, and escape them again.
  if (typeof schema.pattern === 'string') schema.pattern = schema.pattern.replaceAll('\\/', '/')
  if (io === 'input') {
    // Some generators treat fields with a default as required.
    delete schema.default
    return
  }
  if (schema.additionalProperties === false) delete schema.additionalProperties
  if (isSafeBound('minimum', schema.minimum)) delete schema.minimum
  if (isSafeBound('maximum', schema.maximum)) delete schema.maximum
}

/** Generators read an integer without a format as 32 bits. */
function fitsInt32({ minimum, maximum }: Json): boolean {
  return Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31
}
