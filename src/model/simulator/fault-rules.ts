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
