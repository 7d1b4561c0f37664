import type { Clock, MovableClock } from '../clock.ts'
import type { Identifiers } from '../ids.ts'
import type { SimulatorOptions } from '../simulator-options.ts'
import type { Store } from '../store/store.ts'

/** What a service is when its options do not say otherwise (contract section 1). */
export const defaults = {
  host: '127.0.0.1',
  port: 4100,
  disableAfter: 10,
  bodyLimit: 1024 * 1024,
}

/**
 * Milliseconds that requests and attempts in flight have to finish when the service stops. The service ends within five
 * seconds (contract section 12), and the last of them is for closing connections and files.
 */
export const GRACE_MS = 4_000

/** What a service is made of, once its store is open. */
export interface Parts extends Omit<SimulatorOptions, 'serviceName'>, Identifiers {
  serviceName: string
  /** The listener as it is loaded; `undefined` when the service has no port. */
  listening: Promise<typeof import('../http/listen.ts')> | undefined
  /** The service's own one can be moved. */
  clock: Clock | MovableClock
  store: Store
}
