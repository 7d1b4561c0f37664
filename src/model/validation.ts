import { z } from 'zod'
import { Refusal } from './refusal.ts'

/** An issue of a body: its path (`items[0].price_cents`, or `body` for the whole), and the solution. */
export interface ValidationIssue {
  path: string
  message: string
}

/** True for an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/**
 * Returns arguments of zod's `refine` that refuse a list with repeated keys. Missing keys do not count. The check also
 * runs when an element is invalid, so that all issues are listed at once.
 */
export function unrepeated<T>(message: string, keyOf: (element: T) => unknown = (element) => element) {
  const isUnrepeated = (list: readonly T[]) => {
    const keys = list.map(keyOf).filter((key) => key !== undefined)
    return new Set(keys).size === keys.length
  }
  const when = ({ value }: { value: unknown }) => Array.isArray(value)
  return [isUnrepeated, { message, when }] as const
}

/** Returns the issues of a value at `path`; none when it is valid. */
export function issuesOf(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  return schema.safeParse(value).success ? [] : explained(schema, value, path)
}

/** Formats issues only for invalid values, because nearly all bodies are valid. */
function explained(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): ValidationIssue[] {
  const issues = (schema.safeParse(value, { error: explain }).error?.issues ?? []).flatMap(closestOption)
  const missing = issues.filter(({ message }) => message === REQUIRED).map((issue) => issue.path)
  const ofBody = missing.filter(({ length }) => length === 1)
  const wrapper = wrapperOf(
    value,
    ofBody.map(([name]) => String(name)),
  )
  const hintOf = (at: readonly PropertyKey[]) =>
    wrapper !== undefined && at === ofBody[0]
      ? `Move the fields out of the object ${wrapper}`
      : otherSpelling(value, at)
  return issues.map(({ message, path: at }) => {
    const hint = message === REQUIRED ? hintOf(at) : undefined
    return {
      path: pathText([...path, ...at]),
      message: hint === undefined ? message : `${message}. ${hint}`,
    }
  })
}

/** Returns the field of a value whose object has all the missing fields. */
function wrapperOf(body: unknown, names: readonly string[]): string | undefined {
  if (!isObject(body) || names.length === 0) return undefined
  return Object.keys(body).find((key) => {
    const inner = body[key]
    return /^\w{1,40}$/.test(key) && isObject(inner) && names.every((name) => Object.hasOwn(inner, name))
  })
}

/** Returns a hint when the object of a missing field has its name in another case, or with other underscores. */
function otherSpelling(value: unknown, missing: readonly PropertyKey[]): string | undefined {
  const [name, around] = [missing.at(-1), missing.slice(0, -1)]
  const parent = around.reduce<unknown>((holder, key) => (holder as Record<PropertyKey, unknown>)[key], value)
  if (typeof name !== 'string' || !isObject(parent)) return undefined
  const found = Object.keys(parent).find(
    (key) => key.length <= name.length + MOST_UNDERSCORES && plainName(key) === plainName(name),
  )
  return found === undefined ? undefined : `Rename ${found}: names are in snake_case`
}

/** Longest difference of two spellings of a name: a field of the body may be of any length. */
const MOST_UNDERSCORES = 5

function plainName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
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
  const text =
    first?.path === BODY ? `The body ${first.message}` : `Invalid body: ${first?.path} ${first?.message}`
  return new Refusal('validation_failed', `${text}${rest}.`, { issues })
}

/** Path of an issue of the whole body. */
const BODY = 'body'

/** Formats a path as in JavaScript, Python or C#: `items[2].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text === '' ? BODY : text.replace(/^\./, '')
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
  if (issue.code === 'invalid_value') return `must be ${choiceText(issue.values)}, got ${chosen(issue.input)}`
  if (issue.code === 'unrecognized_keys') return `has unknown fields: ${issue.keys.join(', ')}`
  if (issue.code === 'too_small')
    return `must ${bound(issue, issue.inclusive ? 'at least' : 'greater than', issue.minimum)}`
  if (issue.code === 'too_big')
    return `must ${bound(issue, issue.inclusive ? 'at most' : 'less than', issue.maximum)}`
  return undefined
}

function wrongType(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  if (issue.input === undefined) return REQUIRED
  const wanted = articles[issue.expected] ?? `a ${issue.expected}`
  const message = `must be ${wanted}, got ${describe(issue.input)}`
  const advice = numberAdvice(issue)
  return advice === undefined ? message : `${message}. ${advice}`
}

/** Fractions of a cent up to this size come from calculations with binary fractions. */
const ROUNDING_ERROR = 1e-6

/** Returns what to do about a wrong number. */
function numberAdvice({ expected, input, path }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>) {
  if (expected !== 'number' && expected !== 'int') return undefined
  if (typeof input === 'string')
    return /^\d{4}-\d\d-\d\d/.test(input)
      ? 'Send a time as a number, such as milliseconds since 1970'
      : 'Send a JSON number without quotes'
  const isAmount = String(path?.at(-1)).endsWith('_cents')
  if (!isAmount || typeof input !== 'number' || !Number.isFinite(input)) return undefined
  return Math.abs(input - Math.round(input)) < ROUNDING_ERROR
    ? 'Round the amount'
    : 'Amounts are in minor units (cents), such as 1450'
}

/** Returns `"a"`, `"a" or "b"`, `"a", "b" or "c"`. */
function choiceText(values: readonly unknown[]): string {
  const [last, ...others] = values.map((value) => JSON.stringify(value)).toReversed()
  return others.length === 0 ? String(last) : `${others.toReversed().join(', ')} or ${last}`
}

/** Longest chosen value that an issue repeats, in UTF-16 units. */
const LONGEST_CHOSEN = 40

/** Returns the value of a field with few choices, which is never a secret. */
function chosen(input: unknown): string {
  return typeof input === 'string' ? JSON.stringify(input.slice(0, LONGEST_CHOSEN)) : describe(input)
}

/** Describes an invalid value: numbers and booleans as they are, other values by their type, since texts may be secrets. */
function describe(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return input.length === 0 ? 'an empty array' : 'an array'
  if (typeof input === 'number' || typeof input === 'boolean') return String(input)
  return typeof input === 'object' ? 'an object' : `a ${typeof input}`
}

function bound(
  { origin, input }: { origin: string; input?: unknown },
  comparison: string,
  limit: number | bigint,
): string {
  const plural = limit === 1 ? '' : 's'
  if (origin === 'string') return `be ${comparison} ${limit} character${plural} long`
  if (origin === 'array') return `have ${comparison} ${limit} element${plural}`
  return `be ${comparison} ${limit}, got ${describe(input)}`
}
