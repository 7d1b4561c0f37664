import { pathText } from '../../model/validation.ts'
import { usageError } from '../errors.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * Applies changes such as `items[0].price_cents=900` to a copy of a body. `optional` are top-level keys that may be
 * missing.
 */
export function withOverrides<Body extends object>(
  body: Body,
  overrides: readonly string[],
  optional: readonly string[] = [],
): Body {
  const copy = structuredClone(body) as Json
  for (const override of overrides) {
    const [, path, text] = /^([^=]+)=(.*)$/s.exec(override) ?? []
    if (path === undefined || text === undefined)
      throw usageError(
        `--override must be path=value, such as totals.total_cents=900, got ${JSON.stringify(override)}.`,
      )
    const keys = keysOf(path)
    const holder = keys.slice(0, -1).reduce<Json | undefined>(childOf, copy)
    const last = keys.at(-1) ?? ''
    const before = childOf(holder, last)
    const mayBeNew = keys.length === 1 && optional.includes(last)
    if ((before === undefined && !mayBeNew) || typeof holder !== 'object' || holder === null)
      throw usageError(
        `--override ${override}: the body has no field ${path}. Fields: ${pathsOf(copy, optional)}.`,
      )
    ;(holder as Record<string, Json>)[last] = valueOf(text, before)
  }
  return copy as Body
}

function keysOf(path: string): string[] {
  return path
    .replace(/\[(\d+)\]/g, '.$1')
    .replace(/^\./, '')
    .split('.')
}

function childOf(holder: Json | undefined, key: string): Json | undefined {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined
  if (Array.isArray(holder)) return /^\d+$/.test(key) ? holder[Number(key)] : undefined
  return holder[key]
}

/** Parses JSON where possible; a text stays a text, so that a table's number can be `12`. */
function valueOf(text: string, before: Json | undefined): Json {
  const json = parsed(text)
  if (json === undefined) return text
  return typeof before === 'string' && (typeof json === 'number' || typeof json === 'boolean') ? text : json
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Lists the paths of a body, with `items[0–3].name` for four elements. */
function pathsOf(body: Json, optional: readonly string[]): string {
  const lasts = new Map<string, number>()
  const collect = (value: Json, path: readonly PropertyKey[]): void => {
    if (Array.isArray(value)) value.forEach((child, index) => collect(child, [...path, index]))
    else if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) collect(child, [...path, key])
    else {
      const index = path.findLast((key) => typeof key === 'number')
      const general = pathText(path.map((key) => (typeof key === 'number' ? 0 : key)))
      lasts.set(general, Math.max(lasts.get(general) ?? 0, index ?? 0))
    }
  }
  collect(body, [])
  const paths = Array.from(lasts, ([path, last]) => (last === 0 ? path : path.replace('[0]', `[0–${last}]`)))
  return [...new Set([...paths, ...optional])].join(', ')
}
