import type { Clock } from './clock.ts'
import type { ConnectionLimits } from './http/connection-limits.ts'
import type { RateLimit } from './http/rate-limit.ts'

/** How a simulator is to be; everything has a default (contract sections 9 and 12). */
export interface SimulatorOptions {
  /** Where the store, the credentials and the local authority are kept; without it all is in memory. */
  dataDirectory?: string | undefined
  /** Where the local authority is kept that receivers' certificates may come from; by default the data directory. */
  authorityDirectory?: string | undefined
  host?: string | undefined
  /** 0 takes any free port; `false` none, and the service is reached by its `fetch` alone. */
  port?: number | false | undefined
  /**
   * Where deliveries go that no handler of `receive` takes: `'loopback'` sends to loopback addresses, `localhost` and names
   * below it, and fails the attempts to others; `'any'` sends to all. Default: `'loopback'` with `port: false`, else `'any'`.
   */
  network?: 'loopback' | 'any' | undefined
  /**
   * Whether the service keeps its process running until it is closed. Default: `true` for `startSimulator`, `false` for
   * `createSimulator`, so that a test that forgets `close` ends all the same.
   */
  ref?: boolean | undefined
  /** Serve HTTPS with a certificate of the local authority; needs a directory for that one. */
  https?: boolean | undefined
  /** A key with all scopes to be accepted; made and kept when not given. */
  apiKey?: string | undefined
  /** Names the signature header, `X-<name>-Signature`; the whole name of the header is understood, too. */
  serviceName?: string | undefined
  /** Refuse pushes with unknown fields. */
  strict?: boolean | undefined
  /**
   * The field of a push that orders it (contract section 6, rule 1): `revision` unless another is named, whose values are
   * integers or ISO 8601 times. Checks keep the field of their revision; in a service that orders by another field it
   * counts as none until the next push with that field.
   */
  orderBy?: string | undefined
  allowHttpLoopback?: boolean | undefined
  denyPrivate?: boolean | undefined
  /** Further authorities that receivers' certificates may come from, PEM. */
  ca?: readonly string[] | undefined
  /** Do not check receivers' certificates. */
  insecure?: boolean | undefined
  allowedHosts?: readonly string[] | undefined
  /** Distinct failing deliveries in a row that disable an endpoint; 0 never does. */
  disableAfter?: number | undefined
  /** The longest body in bytes. */
  bodyLimit?: number | undefined
  /** How many requests to `/v1` each key may make; without it, any number. */
  rateLimit?: RateLimit | undefined
  /** How many events are kept, with their deliveries; those still on their way are kept beyond it. */
  keepEvents?: number | undefined
  /** What slow or many clients may take of the HTTP door. */
  connectionLimits?: Partial<ConnectionLimits> | undefined
  /** A clock to live by that `/_sim/clock` does not move; by default the service has one of its own. */
  clock?: Clock | undefined
  /** Where the service's own clock starts; by default at real time, or where it was left in the data directory. */
  startAt?: Date | undefined
  /**
   * Makes a run that can be repeated: identifiers, secrets and times follow from this number and from what is called.
   * The clock stands still and moves by `advance` alone. In memory only, since the same identifiers would come again.
   */
  seed?: number | undefined
  /** Which time deliveries are signed with: the real one, as receivers expect it, or that of the service's clock. */
  signTime?: 'real' | 'virtual' | undefined
  /** Told in one line of what the user should know, such as a repaired journal. */
  onNotice?: ((notice: string) => void) | undefined
  /** Told of bugs and of deliveries that could not be recorded, with the request id where there is one. */
  onError?: ((error: unknown, requestId?: string) => void) | undefined
}
