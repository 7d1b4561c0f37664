import { pathText } from '../../model/validation.ts'

/** Where something is not as it was expected. */
export interface Mismatch {
  path: string
  expected: unknown
  actual: unknown
}

/** Where `actual` lacks something of `expected`: objects may hold more, arrays may not. */
export function mismatches(
  expected: unknown,
  actual: unknown,
  path: readonly PropertyKey[] = [],
): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return mismatches(expected.length, actual.length, [...path, 'length'])
    return expected.flatMap((element, index) => mismatches(element, actual[index], [...path, index]))
  }
  if (isRecord(expected) && isRecord(actual))
    return Object.entries(expected).flatMap(([key, value]) =>
      mismatches(value, Object.hasOwn(actual, key) ? actual[key] : undefined, [...path, key]),
    )
  return Object.is(expected, actual) ? [] : [{ path: pathText(path), expected, actual }]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
