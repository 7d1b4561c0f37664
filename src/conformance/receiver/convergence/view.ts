export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * A receiver's view: nothing (404), JSON, or the lines of a text. The trial's own identifiers and times are replaced by
 * stable names, so that the views of two trials can be compared.
 */
export type View =
  | { kind: 'none' }
  | { kind: 'json'; value: Json }
  | { kind: 'text'; lines: readonly string[] }

export const noView: View = { kind: 'none' }

/** Reads the body of a view. `names` maps the texts of the trial to stable names. */
export function parseView(body: string, names: ReadonlyMap<string, string>): View {
  const rename = renaming(names)
  try {
    return { kind: 'json', value: renameAll(JSON.parse(body) as Json, rename) }
  } catch {
    // HTML is often one line: each tag and the text between tags count as lines.
    const lines = body.split(/\r?\n|(?=<)|(?<=>)/).map((line) => rename(line).trim())
    return { kind: 'text', lines: lines.filter((line) => line !== '') }
  }
}

/**
 * Removes fields of a JSON view by their paths, such as `log` or `items[].note`. Adds the paths that the view has to `found`.
 */
export function withoutPaths(view: View, paths: readonly string[], found: Set<string>): View {
  if (view.kind !== 'json' || paths.length === 0) return view
  const kept = (node: Json, path: string): Json | undefined => {
    if (paths.includes(path)) {
      found.add(path)
      return undefined
    }
    if (isList(node))
      return node.map((element) => kept(element, `${path}[]`)).filter((element) => element !== undefined)
    if (!isObject(node)) return node
    const fields = Object.entries(node).map(([key, value]) => [key, kept(value, joined(path, key))] as const)
    return Object.fromEntries(fields.filter((field): field is [string, Json] => field[1] !== undefined))
  }
  const value = kept(view.value, '')
  return value === undefined ? noView : { kind: 'json', value }
}

/** Returns the JSON of each value, sorted, to compare values in any order. */
export function sortedJson(values: readonly Json[]): string[] {
  return values.map((value) => JSON.stringify(value)).sort()
}

export function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** Replaces texts wherever they stand as whole words, in any case of letters. */
function renaming(names: ReadonlyMap<string, string>): (text: string) => string {
  const escaped = [...names.keys()].sort((one, other) => other.length - one.length).map(escapeRegExp)
  const known = new RegExp(`(?<![A-Za-z0-9])(?:${escaped.join('|')})(?![A-Za-z0-9])`, 'gi')
  const byLowerCase = new Map([...names].map(([text, name]) => [text.toLowerCase(), name]))
  return (text) => text.replace(known, (found) => byLowerCase.get(found.toLowerCase()) ?? found)
}

function renameAll(node: Json, rename: (text: string) => string): Json {
  if (typeof node === 'string') return rename(node)
  if (isList(node)) return node.map((element) => renameAll(element, rename))
  if (!isObject(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [rename(key), renameAll(value, rename)]),
  )
}

/** A name of something that belongs to one trial alone. Table numbers and times do not prove that. */
const OWN_NAME = /\{(?:check|external check|line|event|payment) \d+\}/

/**
 * The part of a view of everything that belongs to the trial:
 * - entries of lists and maps that mention one of its identifiers, as a whole;
 * - an object with a field that holds such an identifier, as a whole;
 * - elsewhere, numbers by how much they grew since `before`, and the lines of a text that were not there before.
 */
export function partOf(view: View, before: View): View {
  if (view.kind === 'text') {
    const lines = without(view.lines, before.kind === 'text' ? before.lines : [])
    return lines.length === 0 ? noView : { kind: 'text', lines }
  }
  if (view.kind === 'none') return view
  const value = ownPart(view.value, before.kind === 'json' ? before.value : undefined)
  return value === undefined ? noView : { kind: 'json', value }
}

function ownPart(node: Json, before: Json | undefined): Json | undefined {
  if (typeof node === 'number') return growth(node, before)
  if (typeof node === 'string') return mentions(node) ? node : undefined
  if (isList(node)) {
    const own = node.filter(mentions).map(onlyOwnEntries)
    return own.length === 0 ? undefined : own
  }
  if (!isObject(node)) return undefined
  const entries = Object.entries(node)
  const isOwn = entries.some(
    ([key, value]) => mentions(key) || (typeof value === 'string' && mentions(value)),
  )
  if (isOwn) return onlyOwnEntries(node)
  const earlier = isObject(before) ? before : {}
  const own = entries.flatMap(([key, value]): [string, Json][] => {
    const part = ownPart(value, earlier[key])
    return part === undefined ? [] : [[key, part]]
  })
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

/** Removes entries of other checks from lists and maps that mix them with the trial's own. */
function onlyOwnEntries(node: Json): Json {
  if (isList(node)) return (node.some(mentions) ? node.filter(mentions) : node).map(onlyOwnEntries)
  if (!isObject(node)) return node
  const entries = Object.entries(node)
  const own = entries.some(([key]) => mentions(key)) ? entries.filter(([key]) => mentions(key)) : entries
  return Object.fromEntries(own.map(([key, value]) => [key, onlyOwnEntries(value)]))
}

/**
 * Returns the growth of a number; `undefined` without growth. Rounded, since sums of fractions differ in their last
 * digits.
 */
function growth(value: number, before: Json | undefined): number | undefined {
  const grown = Math.round((value - (typeof before === 'number' ? before : 0)) * 1e6) / 1e6
  return grown === 0 ? undefined : grown
}

function mentions(node: Json): boolean {
  return OWN_NAME.test(typeof node === 'string' ? node : JSON.stringify(node))
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = counted(others)
  return lines.filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}

function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

export function isList(node: Json | undefined): node is readonly Json[] {
  return Array.isArray(node)
}

export function isObject(node: Json | undefined): node is Readonly<Record<string, Json>> {
  return typeof node === 'object' && node !== null && !isList(node)
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
