import type { Fault } from './fault.ts'

/** An active fault with its counters of remaining and past injections. */
export interface FaultRule<F extends Fault> {
  fault: F
  /** Index among the faults of its kind, so that two faults get different random numbers. */
  index: number
  left: number
  happened: Record<string, number>
}

/** Activates faults, with their counters. */
export function rulesOf<F extends Fault>(faults: readonly F[]): FaultRule<F>[] {
  return faults.map((fault, index) => ({
    fault,
    index,
    left: fault.left ?? fault.times ?? Infinity,
    happened: {},
  }))
}

/** Counts an injection. */
export function count(rule: FaultRule<Fault>, kind: string): void {
  rule.happened[kind] = (rule.happened[kind] ?? 0) + 1
}

/** Returns a fault as responses show it; `left` is absent when the fault is unlimited. */
export function viewRule<F extends Fault>({ fault, left, happened }: FaultRule<F>): F {
  const { left: _left, happened: _happened, ...asked } = fault
  return { ...asked, ...(left === Infinity ? {} : { left }), happened: { ...happened } } as F
}

/**
 * Returns a random number in [0, 1) that depends only on the seed and the subject. So results do not depend on the
 * order, concurrency or number of calls.
 */
export function draw(seed: number, ...subject: readonly (string | number)[]): number {
  // FNV-1a, and the final steps of MurmurHash3, which separate neighbouring numbers.
  let hash = 0x811c9dc5
  for (const character of `${seed}/${subject.join('/')}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
