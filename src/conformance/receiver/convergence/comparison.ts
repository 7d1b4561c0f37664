import { escapeRegExp, isList, isObject, joined, type Json, type View } from './view.ts'
import { count } from '../../../model/text/count.ts'

/** The views of one trial: one for each check, or one for everything. */
export type Views = readonly View[]

/** Differences between two views. */
interface Difference {
  /** A JSON path such as `items[].quantity`, or `text`. */
  path: string
  one: string
  other: string
}

/** Values by path, such as `items[].quantity`; those of all elements of a list under one path. */
export type Leaves = ReadonlyMap<string, readonly Json[]>

/** Compares views. The order of keys and of entries in lists does not matter, nor does what is ignored. */
export interface Comparison {
  /** Ignores, from now on, where these views of the same deliveries in the same order differ. */
  ignore(one: Views, other: Views): void
  ignorePaths(paths: Iterable<string>): void
  /** Takes back `ignorePaths`. */
  regardPaths(paths: Iterable<string>): void
  areEqual(one: Views, other: Views): boolean
  differences(one: Views, other: Views): Difference[]
  /** The values of each JSON view that are not ignored. */
  leaves(views: Views): Leaves[]
  /** The entries of all lists in the first view, as JSON by path, such as `items[]`; without what is ignored. */
  entries(views: Views): ReadonlyMap<string, readonly string[]>
  /** Describes the ignored parts: paths, lines and words. */
  ignored(): string[]
}

export function createComparison(): Comparison {
  /** Paths of values that differ between identical runs. */
  const paths = new Set<string>()
  /** Paths of objects whose keys differ: they are compared as lists of their values. */
  const maps = new Set<string>()
  /** Patterns of lines, and of words wherever they stand. */
  const patterns = new Map<string, RegExp>()
  const words = new Map<string, RegExp>()
  const labels = new Set<string>()

  function learn(one: Json | undefined, other: Json | undefined, path: string): void {
    if (isList(one) && isList(other) && one.length === other.length)
      for (const [index, element] of one.entries()) learn(element, other[index], `${path}[]`)
    else if (isObject(one) && isObject(other)) {
      const [keys, otherKeys] = [Object.keys(one), Object.keys(other)]
      const extra = keys.filter((key) => !(key in other))
      const otherExtra = otherKeys.filter((key) => !(key in one))
      if (extra.length > 0 && extra.length === otherExtra.length) {
        maps.add(path)
        for (const [index, key] of keys.entries()) learn(one[key], other[otherKeys[index] ?? ''], `${path}{}`)
      } else {
        for (const key of [...extra, ...otherExtra]) paths.add(joined(path, key))
        for (const key of keys) if (key in other) learn(one[key], other[key], joined(path, key))
      }
    } else if (one !== other) paths.add(path)
  }

  /** The value without what is ignored, in an order that depends on nothing else; `undefined` when nothing is left. */
  function comparable(node: Json, path: string): Json | undefined {
    if (paths.has(path)) return undefined
    if (isList(node))
      return listed(
        node,
        node.map((element) => comparable(element, `${path}[]`)),
      )
    if (!isObject(node)) return node
    const entries = Object.entries(node)
    if (maps.has(path))
      return listed(
        entries,
        entries.map(([, value]) => comparable(value, `${path}{}`)),
      )
    const left = entries.flatMap(([key, value]): [string, Json][] => {
      const inside = comparable(value, joined(path, key))
      return inside === undefined ? [] : [[key, inside]]
    })
    if (left.length === 0 && entries.length > 0) return undefined
    return Object.fromEntries(left.sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  function addLeaves(node: Json, path: string, leaves: Map<string, Json[]>): void {
    if (paths.has(path)) return
    if (isList(node)) for (const element of node) addLeaves(element, `${path}[]`, leaves)
    else if (isObject(node))
      for (const [key, value] of Object.entries(node))
        addLeaves(value, maps.has(path) ? `${path}{}` : joined(path, key), leaves)
    else leaves.set(path, [...(leaves.get(path) ?? []), node])
  }

  function addEntries(node: Json, path: string, entries: Map<string, string[]>): void {
    if (isList(node))
      for (const element of node) {
        const at = `${path}[]`
        entries.set(at, [...(entries.get(at) ?? []), JSON.stringify(element)])
        addEntries(element, at, entries)
      }
    else if (isObject(node))
      for (const [key, value] of Object.entries(node)) addEntries(value, joined(path, key), entries)
  }

  /** The line with patterns in the place of what is ignored. It is still counted: a row that comes twice is a difference. */
  function masked(line: string): string {
    const known = [...patterns].find(([, matches]) => matches.test(line))
    if (known !== undefined) return known[0]
    const mask = (word: string) => [...words].find(([, matches]) => matches.test(word))?.[0] ?? word
    return line.split(SEPARATORS).map(mask).join('')
  }

  function learnLine(line: string, other: string): void {
    if (masked(line) === masked(other)) return
    const [parts, others] = [line.split(SEPARATORS), other.split(SEPARATORS)]
    const differing = parts.flatMap((part, at) =>
      part === others[at] ? [] : [[part, others[at] ?? ''] as const],
    )
    const isWordwise = parts.length === others.length
    if (isWordwise && differing.every(([word]) => word.length >= DISTINCTIVE))
      for (const [word, second] of differing) {
        addPattern(words, wordPattern(word, second))
        labels.add(`words such as ${JSON.stringify(word)}`)
      }
    else {
      addPattern(patterns, isWordwise ? linePattern(parts, others) : wordPattern(line, other))
      labels.add(
        isWordwise
          ? JSON.stringify(parts.map((part, at) => (part === others[at] ? part : '…')).join(''))
          : 'lines',
      )
    }
  }

  function comparableView(view: View): Json | undefined {
    if (view.kind === 'none') return undefined
    if (view.kind === 'json') return comparable(view.value, '')
    if (paths.has('')) return undefined
    const lines = view.lines.map(masked)
    return lines.every((line) => patterns.has(line) || words.has(line)) ? undefined : listed(lines, lines)
  }

  const whole = (views: Views): Json[] => views.map((view) => comparableView(view) ?? null)

  return {
    ignore(ones, others) {
      for (const [index, one] of ones.entries()) {
        const other = others[index]
        if (other?.kind === 'json' && one.kind === 'json') learn(one.value, other.value, '')
        else if (other?.kind === 'text' && one.kind === 'text' && one.lines.length === other.lines.length) {
          for (const [at, line] of one.lines.entries()) learnLine(line, other.lines[at] ?? '')
        } else if (other?.kind !== one.kind || one.kind === 'text') paths.add('')
      }
    },
    ignorePaths(more) {
      for (const path of more) paths.add(path)
    },
    regardPaths(more) {
      for (const path of more) paths.delete(path)
    },
    leaves: (views) =>
      views.map((view) => {
        const leaves = new Map<string, Json[]>()
        if (view.kind === 'json') addLeaves(view.value, '', leaves)
        return leaves
      }),
    entries(views) {
      const found = new Map<string, string[]>()
      const [view] = views
      const value = view?.kind === 'json' ? comparableView(view) : undefined
      if (value !== undefined) addEntries(value, '', found)
      return found
    },
    areEqual: (one, other) => JSON.stringify(whole(one)) === JSON.stringify(whole(other)),
    differences(ones, others) {
      const comparables = whole(others)
      return whole(ones).flatMap((one, index) =>
        differing(
          one ?? undefined,
          comparables[index] ?? undefined,
          ones[index]?.kind === 'text' ? 'text' : '',
        ),
      )
    },
    ignored: () => [...paths, ...labels],
  }
}

/** The entries that are left, sorted by their text; `undefined` when there were some and none is left. */
function listed(before: readonly unknown[], after: readonly (Json | undefined)[]): Json | undefined {
  const left = after.filter((element) => element !== undefined)
  if (left.length === 0 && before.length > 0) return undefined
  const sorted = left.map((element) => [JSON.stringify(element), element] as const)
  return sorted.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, element]) => element)
}

function differing(one: Json | undefined, other: Json | undefined, path: string): Difference[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return []
  if (isObject(one) && isObject(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    return keys.flatMap((key) => differing(one[key], other[key], joined(path, key)))
  }
  if (isList(one) && isList(other)) {
    const [more, others] = [beyond(one, other), beyond(other, one)]
    const [[first], [second]] = [more, others]
    if (more.length === 1 && others.length === 1 && isObject(first) && isObject(second))
      return differing(first, second, `${path}[]`)
    if (one.length !== other.length)
      return [{ path: path || WHOLE, one: entries(one), other: entries(other) }]
    return [{ path: `${path}[]`, one: shown(first), other: shown(second) }]
  }
  return [{ path: path || WHOLE, one: shown(one), other: shown(other) }]
}

/** The path of a view itself. */
const WHOLE = 'the response'

/** The elements of a list that are not in the other one as often. */
function beyond(list: readonly Json[], other: readonly Json[]): Json[] {
  const left = other.map((element) => JSON.stringify(element))
  return list.filter((element) => {
    const at = left.indexOf(JSON.stringify(element))
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

function entries({ length }: readonly Json[]): string {
  return count(length, 'entry', 'entries')
}

/** Long enough for an amount or a name. */
const SHOWN = 60

function shown(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text
}

/** A pattern for a line of which some words differ between identical runs. */
function linePattern(words: readonly string[], others: readonly string[]): string {
  return words
    .map((word, at) => (word === others[at] ? escapeRegExp(word) : wordPattern(word, others[at] ?? '')))
    .join('')
}

function addPattern(patterns: Map<string, RegExp>, pattern: string): void {
  patterns.set(pattern, new RegExp(`^(?:${pattern})$`))
}

/** Words of so many characters, such as times and random ids, are ignored wherever they stand. */
const DISTINCTIVE = 8
const SEPARATORS = /([\s,;=()"'|]+)/
const RUNS = /\d+|[A-Za-z]+|[^\dA-Za-z]/g

/** A pattern for words of the form of both: digits where both have digits, and letters where both have letters. */
function wordPattern(word: string, other: string): string {
  const runs = word.match(RUNS) ?? []
  const others = other.match(RUNS) ?? []
  const anything = `.${lengths(word, other)}`
  if (runs.length !== others.length) return anything
  const patterns = runs.map((run, at) => {
    const second = others[at] ?? ''
    if (run === second && !/[\dA-Za-z]/.test(run)) return escapeRegExp(run)
    const kind = ['\\d', '[A-Za-z]'].find((one) =>
      [run, second].every((text) => new RegExp(`^${one}+$`).test(text)),
    )
    return kind === undefined ? undefined : kind + lengths(run, second)
  })
  return patterns.includes(undefined) ? anything : patterns.join('')
}

function lengths(one: string, other: string): string {
  return `{${Math.min(one.length, other.length)},${Math.max(one.length, other.length)}}`
}
