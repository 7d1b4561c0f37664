import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { ApiError, type Client } from '../../client.ts'
import { pathText } from '../../model/validation.ts'
import { usageError } from '../errors.ts'
import { inputName, readUnmarked } from '../files/input.ts'
import type { SummarizedCheck } from '../render/push.ts'
import { isSample } from './samples.ts'

/** @throws CommandError (usage) when the source of the push is missing or ambiguous. */
export function requireSource(
  files: readonly string[],
  flags: { watch: boolean; sample?: string | undefined; 'from-log': boolean },
): void {
  const sources = [files.length > 0, flags.sample !== undefined, flags['from-log']].filter(Boolean).length
  if (sources > 1) throw usageError('Pass one of: files, --sample, --from-log.')
  if (sources === 0) throw usageError('FILE is missing. Pass files, --sample two-top, or --from-log.')
  const sample = files.find((file) => isSample(file) && !existsSync(file))
  if (sample !== undefined)
    throw usageError(`Cannot read ${sample}: no such file. For the built-in sample, pass --sample ${sample}.`)
  if (flags.watch && files.includes('-')) throw usageError('--watch cannot watch standard input. Pass files.')
}

/**
 * Returns the external id for a file: its name.
 * @throws CommandError (usage) for standard input.
 */
export function externalIdOfFile(file: string): string {
  if (file === '-') throw usageError('--id is missing. A check from standard input has no file name.')
  return basename(file).replace(/\.json$/i, '')
}

/** Makes a reader of bodies that keeps standard input, which can be read once, for repeated pushes. */
export function createInputReader() {
  let held: Promise<Buffer> | undefined
  return (file: string): Promise<Buffer> => (file === '-' ? (held ??= readUnmarked('-')) : readUnmarked(file))
}

/** A push, with its body where it need not be read from its file. */
interface PushSource {
  file: string
  id: string
  /** Location of a push of the log. */
  location_id?: string | undefined
  body?: string | Uint8Array | undefined
}

/** A push with its body, and its place among several in an array, from 1. */
export interface SourcedPush extends PushSource {
  body: string | Uint8Array
  element?: number | undefined
}

/** Names a push in a message: its file, and its place in an array of several. */
export function nameOf({ file, element }: Pick<SourcedPush, 'file' | 'element'>): string {
  return element === undefined ? inputName(file) : `element ${element} of ${inputName(file)}`
}

/**
 * Reads the bodies, and replaces each file that holds a JSON array by the pushes in it. @throws CommandError when a file
 * cannot be read.
 */
export async function withBodies(
  pushes: readonly PushSource[],
  read: (file: string) => Promise<Buffer>,
): Promise<SourcedPush[]> {
  const all = await Promise.all(
    pushes.map(async (push) => {
      const body = push.body ?? (await read(push.file))
      const elements = elementsIn(body)
      if (elements === undefined) return [{ ...push, body }]
      return elements.map((json, index) => {
        const element = elements.length === 1 ? undefined : index + 1
        return { ...push, body: JSON.stringify(json), element }
      })
    }),
  )
  return all.flat()
}

/**
 * Returns the body of a push without `$schema`, which is for editors: a service may refuse unknown fields. Any other body
 * stays as it is, byte for byte.
 */
export function withoutSchema(body: string | Uint8Array): string | Uint8Array {
  const text = Buffer.from(body).toString()
  if (!text.includes('"$schema"')) return body
  try {
    const { $schema, ...push } = JSON.parse(text) as Record<string, unknown>
    return typeof $schema === 'string' ? JSON.stringify(push) : body
  } catch {
    return body
  }
}

/** Returns the elements of a JSON array; `undefined` for any other text, and for an empty array, which is not a push. */
function elementsIn(body: string | Uint8Array): unknown[] | undefined {
  const text = Buffer.from(body).toString()
  if (!/^\s*\[/.test(text)) return undefined
  try {
    const json: unknown = JSON.parse(text)
    return Array.isArray(json) && json.length > 0 ? json : undefined
  } catch {
    return undefined
  }
}

/** Returns the part of a check that a summary shows, from its accepted body, in which another service may need fewer fields. */
export function sentCheck(external_id: string, body: string | Uint8Array): SummarizedCheck {
  const { table, status, items, totals } = JSON.parse(Buffer.from(body).toString()) as Partial<
    Omit<SummarizedCheck, 'table'> & { table: { number: unknown } }
  >
  return {
    external_id,
    items: Array.isArray(items) ? items : [],
    ...(table !== undefined && { table: { number: String(table.number) } }),
    ...(status !== undefined && { status }),
    ...(totals !== undefined && { totals }),
  }
}

/** Returns the simulator's report of a push; `null` at another service, or without the scope. */
export async function pushReportOf(client: Client, requestId: string) {
  try {
    // Another service may have its own resource at this path.
    const { push } = await client.requests.get(requestId)
    return (push as typeof push | undefined) ?? null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

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
