/** What `$anna.id` or `$bill.items[0].external_id` look like: a step's name, and the way into its answer. */
export const REFERENCE = /^\$([a-z_]\w*)((?:\.\w+|\[\d+\])*)$/i

/** The names of earlier steps that a value refers to. */
export function referredTo(value: unknown): string[] {
  if (typeof value === 'string') return REFERENCE.exec(value)?.slice(1, 2) ?? []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referredTo) : []
}

/** The value with what it refers to in place of each reference. @throws Error for what an answer does not have. */
export function resolved<T>(value: T, answers: ReadonlyMap<string, unknown>): T {
  if (typeof value === 'string') return (REFERENCE.test(value) ? lookUp(value, answers) : value) as T
  if (Array.isArray(value)) return value.map((element: unknown) => resolved(element, answers)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, child]) => [key, resolved<unknown>(child, answers)])
  return Object.fromEntries(entries) as T
}

function lookUp(reference: string, answers: ReadonlyMap<string, unknown>): unknown {
  const [, name = '', way = ''] = REFERENCE.exec(reference) ?? []
  let found: unknown = answers.get(name)
  for (const [key] of way.matchAll(/\w+/g))
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined
  if (found === undefined) throw new Error(`${reference} is not in the answer to ${name}`)
  return found
}
