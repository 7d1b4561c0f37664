import type { Leaves } from './comparison.ts'
import type { Step } from './scenario.ts'
import type { Json } from './view.ts'

type Sequence = readonly number[]

interface Parts {
  steps: readonly Step[]
  /** The values that the view shows after a sequence. */
  leavesOf(sequence: Sequence): Promise<readonly Leaves[]>
}

/** Parts of the scenario in its own order, each with another state of check 1. */
const PARTS: readonly Sequence[] = [[0], [1], [0, 3], [1, 4], [6], [0, 6, 7]]

/**
 * The paths at which two ends differ without a difference in state: a right receiver may show how many deliveries it has
 * received, applied or skipped. These paths hold
 * - values that stay the same whatever is delivered, as long as each delivery comes once and in order;
 * - numbers that grow by one with each repeated delivery, whatever its type;
 * - numbers that are smaller where outdated states were left out, by at most one for each.
 */
export async function bookkeeping(
  [one = [], other = []]: readonly (readonly Leaves[])[],
  { steps, leavesOf }: Parts,
): Promise<string[]> {
  const all = [...steps.keys()]
  // The first view alone: of check 1, or of everything.
  const firstOf = async (sequence: Sequence) => (await leavesOf(sequence))[0] ?? new Map<string, Json[]>()
  const full = await firstOf(all)
  const parts: Leaves[] = []
  for (const part of PARTS) parts.push(await firstOf(part))
  const repeated: Leaves[] = []
  for (const type of ['check.created', 'payment.succeeded'] as const) {
    const place = steps.findIndex((step) => step.type === type && step.check === 1)
    repeated.push(await firstOf(all.flatMap((at) => (at === place ? [at, at] : [at]))))
  }
  const outdated = all.filter((place) => isOutdated(steps, place))
  const newest = await firstOf(all.filter((place) => !outdated.includes(place)))

  const isConstant = (path: string) =>
    full.has(path) && parts.every((leaves) => leaves.size === 0 || kinds(leaves, path) === kinds(full, path))
  const countsRepeated = (path: string) =>
    repeated.every((leaves) => total(leaves, path) === total(full, path) + 1)
  const countsApplied = (path: string) => {
    const fewer = total(full, path) - total(newest, path)
    return Number.isInteger(fewer) && fewer > 0 && fewer <= outdated.length
  }
  return one.flatMap((leaves, index) =>
    [...leaves.keys()].filter((path) => {
      const [values, others] = [leaves.get(path) ?? [], other[index]?.get(path) ?? []]
      if (sorted(values).join() === sorted(others).join()) return false
      // Where there are more of a value, something was added.
      const isSameLength = values.length === others.length
      return (isSameLength && isConstant(path)) || countsRepeated(path) || countsApplied(path)
    }),
  )
}

/** Returns true when a later event shows a newer state of the same check. */
function isOutdated(steps: readonly Step[], place: number): boolean {
  const isState = ({ type }: Step) => type.startsWith('check.')
  const step = steps[place]
  return (
    step !== undefined &&
    isState(step) &&
    steps.some((later, at) => at > place && isState(later) && later.check === step.check)
  )
}

/** The sum of the numbers at a path, or NaN where there are other values or none. */
function total(leaves: Leaves, path: string): number {
  const values = leaves.get(path) ?? []
  if (values.length === 0) return Number.NaN
  return values.reduce<number>((sum, value) => (typeof value === 'number' ? sum + value : Number.NaN), 0)
}

/** The different values at a path. */
function kinds(leaves: Leaves, path: string): string {
  return sorted([...new Set(leaves.get(path))]).join()
}

function sorted(values: readonly Json[]): string[] {
  return values.map((value) => JSON.stringify(value)).sort()
}
