import { didYouMean } from '../../model/did-you-mean.ts'

/** What a matcher tells vitest: `message` is for when the test fails, and `actual` and `expected` are for its diff. */
export interface Outcome {
  pass: boolean
  message: () => string
  actual?: unknown
  expected?: unknown
}

/** What a matcher found, in the words of a failure. */
interface Found {
  /** What the test asks for, as a phrase. */
  expected: string
  /** What there is, as a phrase. */
  got: string
  /** What explains it, such as the delivery in one line. */
  lines?: readonly string[]
  /** Values for a diff. */
  diff?: { actual: unknown; expected: unknown } | undefined
}

/** The outcome when what was asked for is so; the words are for a failed `.not`. */
export function passed({ diff: _none, ...found }: Found): Outcome {
  return outcome(true, found)
}

/** The outcome when what was asked for is not so. */
export function failed(found: Found): Outcome {
  return outcome(false, found)
}

function outcome(pass: boolean, { expected, got, lines = [], diff }: Found): Outcome {
  return { pass, message: () => [`Expected: ${expected}`, `Got: ${got}`, ...lines].join('\n'), ...diff }
}

/** @throws TypeError unless the subject of a matcher has these calls, as a simulator has. */
export function requireSimulator(matcher: string, subject: unknown, ...calls: string[]): void {
  const has = (call: string) =>
    typeof subject === 'object' &&
    subject !== null &&
    (subject as Record<string, unknown>)[call] !== undefined
  if (calls.every(has)) return
  throw new TypeError(`${matcher} expects a simulator of createSimulator, got ${kindOf(subject)}.`)
}

/** @throws TypeError when a word is not known, with the one that was probably meant. */
export function requireKnown(noun: string, words: readonly string[], known: readonly string[]): void {
  const unknown = words.find((word) => !known.includes(word))
  if (unknown === undefined) return
  const rest = didYouMean(unknown, known) || `. Known are ${known.join(', ')}.`
  throw new TypeError(`unknown ${noun} ${JSON.stringify(unknown)}${rest}`)
}

/** `a Promise`, `undefined`, `"text"`: what a wrong subject is. */
export function kindOf(subject: unknown): string {
  if (subject instanceof Promise) return 'a Promise; await it first'
  if (typeof subject === 'string') return JSON.stringify(subject.slice(0, 60))
  if (typeof subject !== 'object' || subject === null)
    return typeof subject === 'function' ? 'a function' : String(subject)
  const name = (Object.getPrototypeOf(subject) as object | null)?.constructor.name ?? 'Object'
  const keys = Object.keys(subject).slice(0, 5)
  return name === 'Object'
    ? `an object with ${keys.length === 0 ? 'no fields' : keys.join(', ')}`
    : `a ${name}`
}
