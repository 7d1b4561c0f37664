import {
  faultsBody,
  withDefaults,
  type ApiFault,
  type DeliveryFault,
  type Fault,
  type FaultsView,
} from '../model/fault.ts'
import { validate } from '../model/validation.ts'
import { ok, type Call, type Reply, type Route } from './route.ts'

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

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` is the whole of it, and counting begins anew. */
export function faultRoutes({ faults: { seed: own, deliveries, api } }: FaultParts): Route[] {
  let seed = own
  const show = (): Reply => ok({ seed, faults: [...deliveries.show(), ...api.show()] } satisfies FaultsView)
  const set = async (faults: readonly Fault[]): Promise<Reply> => {
    await api.set(
      faults.filter((fault) => fault.on === 'api'),
      seed,
    )
    await deliveries.set(
      faults.filter((fault) => fault.on === 'deliveries'),
      seed,
    )
    return show()
  }
  const row = (method: Route['method'], handle: Route['handle']): Route => ({
    method,
    path: '/faults',
    scope: 'simulate',
    handle,
  })
  return [
    row('GET', show),
    row('PUT', async (call: Call) => {
      const body = validate(faultsBody, await call.body())
      seed = body.seed ?? own
      return set(body.faults.map(withDefaults))
    }),
    row('DELETE', () => {
      seed = own
      return set([])
    }),
  ]
}
