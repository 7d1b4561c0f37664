import {
  faultsBody,
  withDefaults,
  type ApiFault,
  type DeliveryFault,
  type Fault,
  type FaultsView,
} from '../../model/simulator/fault.ts'
import { validate } from '../../model/validation.ts'
import { ok, type Call, type Reply, type Route, simulatorRow } from '../route.ts'

/** Where faults of a kind are in force. */
interface InForce<F extends Fault> {
  set(faults: readonly F[], seed: number): Promise<void> | void
  show(): readonly F[]
}

export interface FaultParts {
  faults: {
    /** What is drawn from unless said otherwise. */
    seed: number
    deliveries: InForce<DeliveryFault>
    api: InForce<ApiFault>
  }
}

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` replaces all faults, and counts begin at 0. */
export function faultRoutes(parts: FaultParts): Route[] {
  /** Drawn from instead of the service's own. */
  let wanted: number | undefined
  const seedNow = () => wanted ?? parts.faults.seed
  const show = (): Reply => {
    const { deliveries, api } = parts.faults
    return ok({ seed: seedNow(), faults: [...deliveries.show(), ...api.show()] } satisfies FaultsView)
  }
  const set = async (seed: number | undefined, faults: readonly Fault[]): Promise<Reply> => {
    wanted = seed
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
    simulatorRow('GET', '/faults', show),
    simulatorRow('PUT', '/faults', async (call: Call) => {
      const { seed, faults } = validate(faultsBody, await call.body())
      return set(seed, faults.map(withDefaults))
    }),
    simulatorRow('DELETE', '/faults', () => set(undefined, [])),
  ]
}
