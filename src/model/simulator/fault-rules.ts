import type { Fault } from './fault.ts'

/** A fault that is in force, with how often it may still befall anything and how often it has. */
export interface FaultRule<F extends Fault> {
  fault: F
  /** Its number among those of its kind, so that two of them draw apart. */
  index: number
  left: number
  happened: Record<string, number>
}

/** Puts faults in force. */
export function rulesOf<F extends Fault>(faults: readonly F[]): FaultRule<F>[] {
  return faults.map((fault, index) => ({
    fault,
    index,
    left: fault.left ?? fault.times ?? Infinity,
    happened: {},
  }))
}

/** Notes that a fault has done what it does. */
export function count(rule: FaultRule<Fault>, kind: string): void {
  rule.happened[kind] = (rule.happened[kind] ?? 0) + 1
}

/** A fault as it is shown: `left` only where there is an end to it. */
export function viewRule<F extends Fault>({ fault, left, happened }: FaultRule<F>): F {
  const { left: _left, happened: _happened, ...asked } = fault
  return { ...asked, ...(left === Infinity ? {} : { left }), happened: { ...happened } } as F
}

/**
 * A number from 0 up to 1 that follows from a seed and from what is drawn for, and from nothing else: draws may be made
 * in any order, at the same time and more than once.
 */
export function draw(seed: number, ...subject: readonly (string | number)[]): number {
  // FNV-1a, and the last steps of MurmurHash3, without which neighbouring numbers would draw alike.
  let hash = 0x811c9dc5
  for (const character of `${seed}/${subject.join('/')}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
