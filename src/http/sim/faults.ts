import {
  faultsBody,
  withDefaults,
  type ApiFault,
  type DeliveryFault,
  type Fault,
  type FaultsView,
} from '../../model/simulator/fault.ts'
import { ok, withBody, type Documented } from '../route.ts'

/** Applies faults of one kind. */
interface InForce<F extends Fault> {
  set(faults: readonly F[], seed: number): Promise<void> | void
  show(): readonly F[]
}

export interface FaultParts {
  faults: {
    /** Default seed. */
    seed: number
    deliveries: InForce<DeliveryFault>
    api: InForce<ApiFault>
  }
}

/** Faults of both kinds, with the seed of their random numbers. */
export interface FaultControls {
  show(): FaultsView
  /** Replaces all faults. Without a seed, uses the default one. */
  set(seed: number | undefined, faults: readonly Fault[]): Promise<FaultsView>
}

export function createFaultControls(parts: FaultParts): FaultControls {
  /** Seed of the latest `PUT`. */
  let given: number | undefined
  const seedNow = () => given ?? parts.faults.seed
  const show = () => {
    const { deliveries, api } = parts.faults
    return { seed: seedNow(), faults: [...deliveries.show(), ...api.show()] }
  }
  return {
    show,
    async set(seed, faults) {
      given = seed
      const { deliveries, api } = parts.faults
      await api.set(
        faults.filter((fault) => fault.on === 'api'),
        seedNow(),
      )
      await deliveries.set(
        faults.filter((fault) => fault.on === 'deliveries'),
        seedNow(),
      )
      return show()
    },
  }
}

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` replaces all faults and resets their counts. */
export function faultRoutes({ show, set }: FaultControls): Documented[] {
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
      handle: () => ok(show()),
    },
    {
      method: 'PUT',
      path: '/faults',
      scope: 'simulate',
      ...withBody(faultsBody, async ({ seed, faults }) => ok(await set(seed, faults.map(withDefaults)))),
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
      handle: async () => ok(await set(undefined, [])),
    },
  ]
}
