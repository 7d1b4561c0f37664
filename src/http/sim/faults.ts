import { faultsBody, withDefaults, type Fault, type FaultsView } from '../../model/simulator/fault.ts'
import { ok, withBody, type Documented } from '../route.ts'

export interface FaultParts {
  faults: FaultControls
}

/** Faults of both kinds, with the seed of their random numbers. */
export interface FaultControls {
  /** Resolves with the faults and their counts over all instances. */
  show(): Promise<FaultsView>
  /** Replaces all faults. Without a seed, uses the default one. */
  set(seed: number | undefined, faults: readonly Fault[]): Promise<FaultsView>
}

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` replaces all faults and resets their counts. */
export function faultRoutes(parts: FaultParts): Documented[] {
  return [
    {
      method: 'GET',
      path: '/faults',
      scope: 'simulate',
      doc: {
        id: 'getFaults',
        tag: 'Simulator clock',
        summary: 'List faults',
        answers: { 200: { description: 'All faults, with the number of injections.', schema: 'Faults' } },
      },
      handle: async () => ok(await parts.faults.show()),
    },
    {
      method: 'PUT',
      path: '/faults',
      scope: 'simulate',
      ...withBody(faultsBody, async ({ seed, faults }) =>
        ok(await parts.faults.set(seed, faults.map(withDefaults))),
      ),
      doc: {
        id: 'setFaults',
        tag: 'Simulator clock',
        summary: 'Set faults',
        description: 'Replaces all faults and sets their counts to 0.',
        answers: { 200: { description: 'All faults, with default values filled in.', schema: 'Faults' } },
      },
    },
    {
      method: 'DELETE',
      path: '/faults',
      scope: 'simulate',
      doc: {
        id: 'clearFaults',
        tag: 'Simulator clock',
        summary: 'Clear faults',
        answers: { 200: { description: 'An empty list of faults.', schema: 'Faults' } },
      },
      handle: async () => ok(await parts.faults.set(undefined, [])),
    },
  ]
}
