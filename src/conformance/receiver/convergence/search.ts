import type { Arbitrary } from 'fast-check'
import type { Views } from './comparison.ts'
import type { Step } from './scenario.ts'
import { NotJudged } from './state-view.ts'
import type { Sequence, Trials } from './trials.ts'

type FastCheck = typeof import('fast-check')

/** A sequence is judged by an unremarkable one of the same events. */
interface Property {
  arbitrary(fc: FastCheck, all: Sequence): Arbitrary<number[]>
  /** Tried first. */
  examples(fc: FastCheck, all: Sequence, seed: number): Sequence[]
  /** The shortest that may fail, tried before a counterexample is shrunk. */
  shortest(steps: readonly Step[]): Sequence[]
  /** The sequence that has to end alike. */
  reference(sequence: Sequence): Sequence
  holds(sequence: Sequence, trials: Trials): Promise<boolean>
}

/** Two sequences of the same events that end differently. */
export interface Counterexample {
  one: Sequence
  other: Sequence
  ends: readonly [Views, Views]
}

export interface Limits {
  /** The same seed tries the same sequences. */
  seed: number
  /** After this long, in milliseconds, no further sequence is tried. */
  searchMs: number
}

export interface Found {
  /** Number of tried sequences. */
  tried: number
  counterexample: Counterexample | undefined
}

/** Sequences that are drawn for each search, beside the examples. */
const DRAWN = 12
/** After this long, in milliseconds, a counterexample is not shrunk further. */
const SHRINK_MS = 60_000
/** Most false counterexamples, caused by views that differ by time or by counts of deliveries. */
const DISMISSALS = 5

/** Where a minimal length is given instead, fast-check does not shrink to all of the shortest. */
const isLong = ({ length }: Sequence) => length > 1

/** Unique deliveries in any order end as they do in the order in which the events happened. */
export const orders: Property = {
  arbitrary: (fc, all) => fc.shuffledSubarray([...all]).filter(isLong),
  examples: (fc, all, seed) => [
    all.toReversed(),
    ...fc.sample(fc.shuffledSubarray([...all], { minLength: all.length }), { seed, numRuns: 8 }),
  ],
  shortest: (steps) =>
    steps.flatMap(({ check }, place) => {
      const next = steps.findIndex((later, at) => at > place && later.check === check)
      return next < 0 ? [] : [[next, place]]
    }),
  reference: (sequence) => sequence.toSorted((one, other) => one - other),
  holds: (sequence, trials) => trials.endAlike(orders.reference(sequence), sequence),
}

/**
 * Repeated deliveries end as they do when each is sent once. A repetition also brings a delivery to a later place, so events
 * whose order matters tell nothing: that is a mistake of its own.
 */
export const repetitions: Property = {
  arbitrary: (fc, all) =>
    fc.array(fc.nat({ max: all.length - 1 }), { maxLength: 3 * all.length, size: 'max' }).filter(isLong),
  examples: (_fc, all) => [
    all.flatMap((place) => [place, place, place]),
    [...all, ...all],
    [...all, ...all.toReversed()],
  ],
  // A payment may show only where the check is known.
  shortest: (steps) => [
    ...steps.map((_step, place) => [place, place]),
    ...steps.map(({ check }, place) => [steps.findIndex((first) => first.check === check), place, place]),
  ],
  reference: (sequence) => [...new Set(sequence)],
  async holds(sequence, trials) {
    const once = repetitions.reference(sequence)
    if (once.length === sequence.length || (await trials.endAlike(once, sequence))) return true
    const byLastPlace = [...new Set(sequence.toReversed())].toReversed()
    const isSafe = await trials.endAlike(once, byLastPlace)
    return !isSafe || !(await trials.endAlike(orders.reference(once), once))
  },
}

/**
 * Looks for a sequence that does not hold, shrunk to the fewest deliveries.
 * @throws NotJudged when the view cannot be read, or differs from time to time.
 */
export async function search(property: Property, trials: Trials, limits: Limits): Promise<Found> {
  for (let attempt = 0; attempt < DISMISSALS; attempt += 1) {
    const { tried, sequence } = await firstFailure(property, trials, limits)
    if (sequence === undefined) return { tried, counterexample: undefined }
    const one = property.reference(sequence)
    const ends = await trials.confirm(one, sequence)
    if (ends !== undefined && !(await trials.ignoreBookkeeping(ends)))
      return { tried, counterexample: { one, other: sequence, ends } }
  }
  throw new NotJudged(
    'The same deliveries in the same order sometimes give different responses at --state-url.',
  )
}

/** The first sequence that fails, shrunk, and how many were tried until then. */
async function firstFailure(property: Property, trials: Trials, { seed, searchMs }: Limits) {
  const fc = await import('fast-check')
  const all = [...trials.steps.keys()]
  let tried = 0
  let trouble: unknown
  const run = async (examples: readonly Sequence[], drawn: number, limitMs: number) => {
    const deadline = performance.now() + limitMs
    const attempt = async (sequence: Sequence) => {
      if (trouble !== undefined || performance.now() > deadline) return true
      tried += 1
      try {
        return await property.holds(sequence, trials)
      } catch (error) {
        // fast-check would take it for a counterexample.
        trouble = error
        return true
      }
    }
    const { counterexample } = await fc.check(fc.asyncProperty(property.arbitrary(fc, all), attempt), {
      seed,
      endOnFailure: drawn > 0,
      numRuns: examples.length + drawn,
      examples: examples.map((sequence): [number[]] => [[...sequence]]),
    })
    if (trouble instanceof Error) throw trouble
    return counterexample?.[0]
  }
  const sequence = await run(property.examples(fc, all, seed), DRAWN, searchMs)
  const triedFirst = tried
  if (sequence === undefined) return { tried, sequence }
  const shrunk = await run([...property.shortest(trials.steps), sequence], 0, SHRINK_MS)
  return { tried: triedFirst, sequence: shrunk ?? sequence }
}
