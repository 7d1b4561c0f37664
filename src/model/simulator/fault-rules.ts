import type { ApiFault, DeliveryFault, Fault, FaultsView } from './fault.ts'

/** An active fault with its counters, as JSON. */
export interface FaultRule<F extends Fault> {
  fault: F
  /** Index among the faults of its kind, so that two faults get different random numbers. */
  index: number
  /** Remaining injections; `null` when they are unlimited. */
  left: number | null
  happened: Record<string, number>
  /** Number of requests that the fault applied to, so that its random numbers do not depend on other faults. */
  seen: number
}

/** All active faults. */
export interface FaultSet {
  /** Increases with each replacement of the faults. */
  id: number
  /** Seed of the random numbers; `null` for the default one. */
  seed: number | null
  deliveries: FaultRule<DeliveryFault>[]
  api: FaultRule<ApiFault>[]
}

/** The active faults. All instances of a sandbox have the same ones, with the same counts. */
export interface ActiveFaults {
  /** Returns the faults as this instance knows them. */
  now(): FaultSet
  /** Returns the seed in use. */
  seed(): number
  /**
   * Changes counts in one transaction. `change` may modify the set, and is called again when another instance was faster.
   * Resolves with its reply; with `undefined`, and without a change, when the faults of this id were replaced.
   */
  update<Reply>(id: number, change: (set: FaultSet) => Reply): Promise<Reply | undefined>
  /** Calls `listener` after each replacement of the faults, also by other instances. */
  onReplaced(listener: () => void): void
}

/** The set before any faults. */
export const noFaults: FaultSet = { id: 0, seed: null, deliveries: [], api: [] }

/** Returns a set of faults that replaces `before`. */
export function faultSet(before: FaultSet, seed: number | undefined, faults: readonly Fault[]): FaultSet {
  return {
    id: before.id + 1,
    seed: seed ?? null,
    deliveries: rulesOf(faults.filter((fault) => fault.on === 'deliveries')),
    api: rulesOf(faults.filter((fault) => fault.on === 'api')),
  }
}

/** Activates faults, with their counters. */
export function rulesOf<F extends Fault>(faults: readonly F[]): FaultRule<F>[] {
  return faults.map((fault, index) => ({
    fault,
    index,
    left: fault.left ?? fault.times ?? null,
    happened: {},
    seen: 0,
  }))
}

/** Returns how many more times a fault may be injected. */
export function leftOf({ left }: Pick<FaultRule<Fault>, 'left'>): number {
  return left ?? Infinity
}

/** Uses up one injection of a fault. */
export function useUp(rule: FaultRule<Fault>): void {
  if (rule.left !== null) rule.left -= 1
}

/** Counts an injection. */
export function countInjection(rule: FaultRule<Fault>, kind: string): void {
  rule.happened[kind] = (rule.happened[kind] ?? 0) + 1
}

/** Returns faults as responses show them. */
export function viewFaults({ deliveries, api }: FaultSet, seed: number): FaultsView {
  return { seed, faults: [...deliveries.map(viewRule), ...api.map(viewRule)] }
}

/** Returns a fault as responses show it; `left` is absent when the fault is unlimited. */
export function viewRule<F extends Fault>({ fault, left, happened }: FaultRule<F>): F {
  const { left: _left, happened: _happened, ...asked } = fault
  return { ...asked, ...(left === null ? {} : { left }), happened: { ...happened } } as F
}

/**
 * Returns a random number in [0, 1) that depends only on the seed and the subject. So results do not depend on the
 * order, concurrency or number of calls.
 */
export function seededRandom(seed: number, ...subject: readonly (string | number)[]): number {
  // FNV-1a, and the final steps of MurmurHash3, which separate neighbouring numbers.
  let hash = 0x811c9dc5
  for (const character of `${seed}/${subject.join('/')}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
