import type { Clock } from '../clock.ts'
import { isUnspecified } from '../delivery/destination/address.ts'
import { ownAddresses } from '../http/auth/host-check.ts'
import type { Identifiers } from '../ids.ts'
import type { Metrics } from '../http/sim/metrics.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import type { PostgresStore } from '../store/postgres/postgres-store.ts'
import type { SharedValues } from '../store/shared-values.ts'
import type { Store } from '../store/store.ts'
import type { Settings } from './settings.ts'

/**
 * Milliseconds that requests and attempts in flight have to finish on close. The service ends within five seconds
 * (contract section 12); the last second is for closing connections and files.
 */
export const GRACE_MS = 4_000

/** How long an instance handles requests while `/_sim/ready` answers 503, until load balancers send requests elsewhere. */
export const DRAIN_TIMES = { quietMs: 500, mostMs: 2_000 }

/** Parts of a service, once its store is open. */
export interface Parts extends Settings, Identifiers {
  /** The listener's module while it loads; `undefined` when the service has no port. */
  listening: Promise<typeof import('../http/listen.ts')> | undefined
  /** The service's own clock is movable. */
  clock: Clock
  store: Store
  /** Values of the service that are not records. */
  values: SharedValues
  /** The store, when other processes share it. */
  shared: PostgresStore | undefined
  /** Counts of this instance. */
  metrics?: Metrics | undefined
  /** Identifies this instance among those of the sandbox. */
  instance: string
  /** The bundle that the service replays. */
  replay?: Bundle | undefined
  /** Location of the first key; by default the first location. */
  locationId?: string | undefined
}

/**
 * Issues the service's own certificate by the local authority, when it runs on HTTPS.
 * @throws TypeError without a directory.
 */
export async function ownCertificate({
  https,
  host,
  publicUrl,
  dataDirectory,
  authorityDirectory = dataDirectory,
}: Parts) {
  if (https !== true) return undefined
  if (authorityDirectory === undefined)
    throw new TypeError('https needs dataDir or authorityDirectory, for the local certificate authority.')
  const { openAuthority } = await import('../certificates/authority.ts')
  const listensOnAll = isUnspecified(host)
  const hosts = ['localhost', '127.0.0.1', '::1', ...(listensOnAll ? [] : [host])]
  const others = [
    ...(listensOnAll ? ownAddresses() : []),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
  ]
  const authority = await openAuthority(authorityDirectory, [...hosts, ...others])
  return { ...(await authority.issue(hosts, others)), authority: authority.certificatePem }
}
