import {
  faultsBody,
  withDefaults,
  type ApiFault,
  type DeliveryFault,
  type Fault,
  type FaultsView,
} from '../../model/simulator/fault.ts'
import { ok, withBody, type Documented, type Reply } from '../route.ts'

/** Where faults of a kind are in force. */
interface InForce<F extends Fault> {
  set(faults: readonly F[], seed: number): Promise<void> | void
  show(): readonly F[]
}

export interface FaultParts {
  faults: {
    /** Seed of faults that are set without one. */
    seed: number
    deliveries: InForce<DeliveryFault>
    api: InForce<ApiFault>
  }
}

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` replaces all faults, and counts begin at 0. */
export function faultRoutes(parts: FaultParts): Documented[] {
  /** Seed of the latest `PUT`. */
  let given: number | undefined
  const seedNow = () => given ?? parts.faults.seed
  const show = (): Reply => {
    const { deliveries, api } = parts.faults
    return ok({ seed: seedNow(), faults: [...deliveries.show(), ...api.show()] } satisfies FaultsView)
  }
  const set = async (seed: number | undefined, faults: readonly Fault[]): Promise<Reply> => {
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
  }
  return [
    {
      method: 'GET',
      path: '/faults',
      scope: 'simulate',
      doc: {
        id: 'getFaults',
        tag: 'Simulator clock',
        summary: 'Show faults',
        answers: { 200: { description: 'All faults, with how often each was injected.', schema: 'Faults' } },
      },
      handle: show,
    },
    {
      method: 'PUT',
      path: '/faults',
      scope: 'simulate',
      ...withBody(faultsBody, ({ seed, faults }) => set(seed, faults.map(withDefaults))),
      doc: {
        id: 'setFaults',
        tag: 'Simulator clock',
        summary: 'Set faults',
        description: 'The body replaces all faults: those that are not in it end. Counts begin at 0.',
        answers: { 200: { description: 'All faults, with their defaults.', schema: 'Faults' } },
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
        answers: { 200: { description: 'No faults.', schema: 'Faults' } },
      },
      handle: () => set(undefined, []),
    },
  ]
}
