import type { Clock } from './clock.ts'
import type { AnsweredRequest } from './model/simulator/request-entry.ts'
import type { ConnectionLimits, RateLimit } from './model/simulator/settings.ts'

/**
 * Options of a simulator: the flags of `tabwire start` in camelCase, and what only a program can give (contract sections 9
 * and 12). Unknown names and wrong values are refused with a TypeError.
 */
export interface SimulatorOptions {
  /**
   * Directory of the store, the credentials and the local authority. Without it everything is in memory.
   * @default undefined
   */
  dataDir?: string | undefined
  /**
   * PostgreSQL database for all data: `postgres://user@host/database`. Any number of instances may share it. Needs the
   * package `pg`. Excludes `dataDir` and `seed`.
   * @default undefined
   */
  store?: string | undefined
  /**
   * Name of the sandbox in the database of `store`: a schema of its own. 1 to 63 lower-case letters, digits and underscores,
   * beginning with a letter and not with `pg_`.
   * @default 'tabwire'
   */
  sandbox?: string | undefined
  /**
   * Key that encrypts signing secrets and the first API key in the database of `store`: 32 bytes in base64. All instances
   * need the same one.
   * @default undefined, secrets are stored as they are
   */
  storeKey?: string | undefined
  /**
   * Directory of the local authority that receivers' certificates may come from.
   * @default the data directory
   */
  authorityDirectory?: string | undefined
  /**
   * Address to listen on.
   * @default '127.0.0.1'
   */
  host?: string | undefined
  /**
   * Port to listen on, 0 to 65535. 0 takes any free port; with `false`, only `fetch` reaches the service.
   * @default 0 for `createSimulator`, 4100 for `startSimulator`
   */
  port?: number | false | undefined
  /**
   * Where deliveries go that no handler of `receive` takes: `'loopback'` sends to loopback addresses, `localhost` and names
   * below it, and fails the attempts to others; `'any'` sends to all.
   * @default 'loopback' with `port: false`, else 'any'
   */
  network?: 'loopback' | 'any' | undefined
  /**
   * Whether the service keeps its process running until it is closed.
   * @default false for `createSimulator`, so that a test that forgets `close` ends all the same; true for `startSimulator`
   */
  ref?: boolean | undefined
  /**
   * Serves HTTPS with a certificate of the local authority, which needs `dataDir` or `authorityDirectory`.
   * @default false
   */
  https?: boolean | undefined
  /**
   * API key to accept, with all scopes: 1 to 512 visible ASCII characters.
   * @default a new key, or the one in the data directory
   */
  apiKey?: string | undefined
  /**
   * Names the signature header, `X-<name>-Signature`. The name of the whole header is accepted, too.
   * @default 'Service'
   */
  serviceName?: string | undefined
  /**
   * Refuses pushes with unknown fields.
   * @default false
   */
  strict?: boolean | undefined
  /**
   * Field of a push that orders pushes (contract section 6, rule 1): its values are integers or ISO 8601 times. Checks keep
   * the field of their revision; in a service that orders by another field they count as having none until the next push
   * with that field.
   * @default 'revision'
   */
  orderBy?: string | undefined
  /**
   * Accepts `http:` webhook endpoints on loopback addresses, which the specification forbids.
   * @default false
   */
  allowHttpLoopback?: boolean | undefined
  /**
   * Accepts `http:` webhook endpoints on these hosts, which the specification forbids: for receivers that a container
   * reaches by name, such as `host.docker.internal`.
   * @default []
   */
  allowHttpHost?: string | readonly string[] | undefined
  /**
   * Refuses webhook endpoints on loopback and private addresses.
   * @default true with `store` and a `host` that is not loopback, else false
   */
  denyPrivate?: boolean | undefined
  /**
   * Authorities to trust for receivers' certificates: paths of PEM files, or the PEM texts themselves.
   * @default []
   */
  cacert?: string | readonly string[] | undefined
  /**
   * Does not check receivers' certificates.
   * @default false
   */
  insecure?: boolean | undefined
  /**
   * Further host names to answer requests for.
   * @default []
   */
  allowedHost?: string | readonly string[] | undefined
  /**
   * URL at which others reach the service, such as that of a load balancer: tables' addresses and links to the inspector
   * begin with it. Its host is allowed, too.
   * @default the URL of the listener
   */
  publicUrl?: string | undefined
  /**
   * Number of distinct failing deliveries in a row that disables an endpoint; 0 never does.
   * @default 10
   */
  disableAfter?: number | undefined
  /**
   * Longest body of a request, in bytes.
   * @default 1048576
   */
  bodyLimit?: number | undefined
  /**
   * Requests to `/v1` that each key may make: `'10/s'`, `'600/m'`, `'5000/h'`, a number per second, or `{requests, seconds}`.
   * @default undefined, any number
   */
  rateLimit?: string | number | RateLimit | undefined
  /**
   * Number of events that are kept, with their deliveries; fewer when their bodies have more than 128 Mi characters. Pending
   * ones are kept beyond it.
   * @default 10000
   */
  keepEvents?: number | undefined
  /** Limits of the listener for slow or many connections. */
  connectionLimits?: Partial<ConnectionLimits> | undefined
  /**
   * Times of attempts and, in a shared sandbox, of the leases that divide the deliveries among instances, in milliseconds.
   * A lease must outlast an attempt. All instances of a sandbox must have the same times.
   */
  deliveryTimes?: Partial<DeliveryTimes> | undefined
  /**
   * Where the service's clock starts: an ISO 8601 text, milliseconds since 1970, or a `Date`. A `Clock` of your own replaces
   * the service's clock, and `/_sim/clock` does not move it.
   * @default real time, or where the clock was left in the data directory
   */
  clock?: string | number | Date | Clock | undefined
  /**
   * Seed of a reproducible run: identifiers, secrets and times follow from this number and from what is called. The clock
   * is frozen; only `advance` moves it. In memory only, because a later start would repeat the ids.
   * @default undefined
   */
  seed?: number | undefined
  /**
   * Time that deliveries are signed with: the real one, as receivers expect it, or that of the service's clock.
   * @default 'real'
   */
  signTime?: 'real' | 'virtual' | undefined
  /** Called with each answered request. Paths have no query and no token of a table's address. */
  onRequest?: ((request: AnsweredRequest) => unknown) | undefined
  /** Called before a load or a reset replaces the state, which waits until the returned promise settles. */
  onReplace?: (() => unknown) | undefined
  /**
   * Sends deliveries with the trace context of the request that caused them (W3C Trace Context): the headers `traceparent`,
   * with a new span id per attempt, and `tracestate`. The request log shows the trace id of each request.
   * @default false
   */
  trace?: boolean | undefined
  /** Called with one line that the user should know, such as a repaired journal. */
  onNotice?: ((notice: string) => unknown) | undefined
  /**
   * Called with bugs, with deliveries that could not be recorded, and with errors that the other callbacks throw. The request
   * id is given where there is one.
   * @default a process warning
   */
  onError?: ((error: unknown, requestId?: string) => unknown) | undefined

  /** Earlier name of `dataDir`, still accepted. */
  dataDirectory?: string | undefined
  /** Earlier form of `cacert`, still accepted: PEM texts. */
  ca?: readonly string[] | undefined
  /** Earlier name of `allowedHost`, still accepted. */
  allowedHosts?: readonly string[] | undefined
  /** Earlier name of `clock`, still accepted. */
  startAt?: Date | undefined
}

/** Times of attempts, and of the leases that divide them among instances, in milliseconds. */
export interface DeliveryTimes {
  /** From connecting until the response headers (specification section 8). */
  timeoutMs: number
  /** For the kept part of a response's body. */
  bodyTimeoutMs: number
  /** How long a lease lasts. Other instances take over from an instance that ended without notice after this time. */
  leaseMs: number
  /** Between renewals of the leases. */
  renewMs: number
  /** Between looks for free slots. */
  pollMs: number
}

/** Default of `deliveryTimes`. */
export const defaultDeliveryTimes: DeliveryTimes = {
  timeoutMs: 10_000,
  bodyTimeoutMs: 1_000,
  leaseMs: 30_000,
  renewMs: 5_000,
  pollMs: 500,
}

/** Requests of one attempt: a fault may send it twice. */
const MOST_REQUESTS = 2
/** Part of a lease that is kept for late timers and for clocks that differ in speed. */
const MARGIN = 1 / 30

/** Returns the milliseconds that must be left of a lease when an attempt begins. */
export function longestAttempt({ timeoutMs, bodyTimeoutMs, leaseMs }: DeliveryTimes): number {
  return MOST_REQUESTS * (timeoutMs + bodyTimeoutMs) + MARGIN * leaseMs
}

/** True when a lease that is renewed in time always has enough left for an attempt. */
export function leaseOutlastsAttempt(times: DeliveryTimes): boolean {
  return times.leaseMs - times.renewMs - 2 * times.pollMs > longestAttempt(times)
}
