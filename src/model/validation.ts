import { z } from 'zod'
import { Refusal } from './refusal.ts'

/** An issue of a body: its path (`items[0].price_cents`, or `body` for the whole), and the solution. */
export interface ValidationIssue {
  path: string
  message: string
}

/**
 * Validates a body and returns the schema's output; `more` are issues from other checks.
 * @throws Refusal `validation_failed` that lists every issue at once (contract section 4).
 */
export function validate<T>(schema: z.ZodType<T>, body: unknown, more: readonly ValidationIssue[] = []): T {
  const result = schema.safeParse(body)
  if (result.success && more.length === 0) return result.data
  throw invalid([...explained(schema, body, []), ...more])
}

/** Returns the issues of a value at `path`; none when it is valid. */
export function issuesOf(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  return schema.safeParse(value).success ? [] : explained(schema, value, path)
}

/** Formats issues only for invalid values, because nearly all bodies are valid. */
function explained(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  const issues = schema.safeParse(value, { error: explain }).error?.issues ?? []
  return issues
    .flatMap(closestOption)
    .map((issue) => ({ path: pathText([...path, ...issue.path]), message: issue.message }))
}

/**
 * Returns the issues of the union's option that has every field of the value, with wrong types only; otherwise the
 * union's own issue.
 */
function closestOption(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const option = issue.errors.find((errors) =>
    errors.every(
      ({ code, path, message }) => code === 'invalid_type' && path.length > 0 && message !== REQUIRED,
    ),
  )
  return option?.map((error) => ({ ...error, path: [...issue.path, ...error.path] })) ?? [issue]
}

const REQUIRED = 'is required'

/** Returns the refusal of a body with these issues. */
export function invalid(issues: readonly ValidationIssue[]): Refusal {
  const first = issues[0]
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more, see issues)` : ''
  return new Refusal('validation_failed', `The body is not valid: ${first?.path} ${first?.message}${rest}.`, {
    issues,
  })
}

/** Formats a path as in JavaScript, Python or C#: `items[2].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text === '' ? 'body' : text.replace(/^\./, '')
}

const articles: Record<string, string> = {
  array: 'an array',
  object: 'an object',
  int: 'an integer',
  record: 'an object',
}

function explain(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return wrongType(issue)
  if (issue.code === 'invalid_value' && issue.input === undefined) return REQUIRED
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
  if (issue.code === 'unrecognized_keys') return `has unknown fields: ${issue.keys.join(', ')}`
  if (issue.code === 'too_small')
    return `must ${issue.inclusive ? 'be at least' : 'be greater than'} ${bound(issue.origin, issue.minimum)}`
  if (issue.code === 'too_big')
    return `must ${issue.inclusive ? 'be at most' : 'be less than'} ${bound(issue.origin, issue.maximum)}`
  return undefined
}

function wrongType(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  if (issue.input === undefined) return REQUIRED
  const wanted = articles[issue.expected] ?? `a ${issue.expected}`
  return `must be ${wanted}, not ${describe(issue.input)}`
}

function describe(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return 'an array'
  if (typeof input === 'number') return Number.isInteger(input) ? 'a number' : `the number ${input}`
  return typeof input === 'object' ? 'an object' : `a ${typeof input}`
}

function bound(origin: string, limit: number | bigint): string {
  if (origin === 'string') return `${limit} character${limit === 1 ? '' : 's'} long`
  if (origin === 'array') return `${limit} element${limit === 1 ? '' : 's'} long`
  return String(limit)
}
