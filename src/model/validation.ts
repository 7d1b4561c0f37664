import { z } from 'zod'
import { Refusal } from './refusal.ts'

/** One thing wrong with a body: where it is (`items[0].price_cents`, or `body` for the whole) and what to do. */
export interface ValidationIssue {
  path: string
  message: string
}

/**
 * Checks a body against its schema and returns what the schema makes of it; `more` are issues found elsewhere.
 * @throws Refusal `validation_failed` that lists every issue at once (contract section 4).
 */
export function validate<T>(schema: z.ZodType<T>, body: unknown, more: readonly ValidationIssue[] = []): T {
  const result = schema.safeParse(body)
  if (result.success && more.length === 0) return result.data
  throw invalid([...explained(schema, body, []), ...more])
}

/** What is wrong with a value that stands at `path`; nothing when it is right. */
export function issuesOf(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  return schema.safeParse(value).success ? [] : explained(schema, value, path)
}

/** Put into words only when something is wrong: nearly all bodies are right. */
function explained(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  const issues = schema.safeParse(value, { error: explain }).error?.issues ?? []
  return issues
    .flatMap(nearestOption)
    .map((issue) => ({ path: pathText([...path, ...issue.path]), message: issue.message }))
}

/** For a union, the issues of the option that has every field of the value, with wrong types alone; else the union's own. */
function nearestOption(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const option = issue.errors.find((errors) =>
    errors.every(
      ({ code, path, message }) => code === 'invalid_type' && path.length > 0 && message !== REQUIRED,
    ),
  )
  return option?.map((error) => ({ ...error, path: [...issue.path, ...error.path] })) ?? [issue]
}

const REQUIRED = 'is required'

/** The refusal of a body for the given reasons. */
export function invalid(issues: readonly ValidationIssue[]): Refusal {
  const first = issues[0]
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more, see issues)` : ''
  return new Refusal('validation_failed', `The body is not valid: ${first?.path} ${first?.message}${rest}.`, {
    issues,
  })
}

/** Writes a path as a reader of JavaScript, Python or C# would: `items[2].name`. */
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
