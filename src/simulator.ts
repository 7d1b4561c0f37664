import { openAuthority, readAuthorityCertificate } from './certificates.ts'
import { createMovableClock, type Clock, type MovableClock } from './clock.ts'
import { createClockControls, type ClockControls } from './delivery/clock-controls.ts'
import { createDeliver } from './delivery/deliver.ts'
import { createDeliveryFaults, type DeliveryFaults } from './delivery/faults.ts'
import { createDestinationPolicy, type OwnAddress } from './delivery/destination.ts'
import { normalUrl } from './delivery/destination-url.ts'
import { createKeptClock, startOfTime } from './delivery/kept-clock.ts'
import { createPump, type Pump, type PumpLimits } from './delivery/pump.ts'
import { createSender } from './delivery/send.ts'
import { createStateControls } from './delivery/state-controls.ts'
import { furnish } from './furnish.ts'
import { createApiFaults } from './http/api-faults.ts'
import { createApp } from './http/app.ts'
import { createHostCheck } from './http/host-check.ts'
import { assetRoutes, pageRoutes } from './http/page-routes.ts'
import { reachableUrl } from './http/reachable.ts'
import { createRequestLog } from './http/request-log.ts'
import { simRoutes } from './http/sim-routes.ts'
import { createStream } from './http/stream.ts'
import { tableRoutes } from './http/table-routes.ts'
import { createTableStream } from './http/table-stream.ts'
import { v1Routes } from './http/v1-routes.ts'
import { createIdentifiers, type Identifiers } from './ids.ts'
import { createPages } from './pages/index.ts'
import { createService, type Service } from './service.ts'
import { openFileStore } from './store/file-store.ts'
import { KEPT_EVENTS } from './store/history.ts'
import { createMemoryStore } from './store/memory-store.ts'
import type { SimulatorOptions } from './simulator-options.ts'
import type { Store } from './store/store.ts'
import { tablePath } from './table-address.ts'

export type { SimulatorOptions } from './simulator-options.ts'

/** A running service. */
export interface Simulator {
  /** Of the service; the API is under `/v1`, the simulator's own controls under `/_sim`. */
  url: string
  baseUrl: string
  apiKey: string
  /** PEM of the authority that issued the service's own certificate, when it runs on HTTPS. */
  ca: string | undefined
  /** Resolves when no delivery is due and none is under way. */
  idle(): Promise<void>
  /** Lets requests and attempts in flight finish for up to 5 seconds, then stops; everything acknowledged is durable. */
  close(): Promise<void>
}

const defaults = {
  host: '127.0.0.1',
  port: 4100,
  serviceName: 'Service',
  disableAfter: 10,
  bodyLimit: 1024 * 1024,
}

/** Where the clock of a seeded run stands, unless said otherwise: any time will do that never changes. */
const SEEDED_START = new Date('2026-01-01T00:00:00.000Z')

/** What requests and attempts in flight are given when the service stops (contract section 12). */
const GRACE_MS = 5_000

/**
 * Starts a complete service: the one place that wires store, operations, deliveries and HTTP together.
 * @throws StoreDamaged, DirectoryInUse, DirectoryUnusable or PortUnavailable; then nothing is left running.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  if (options.seed !== undefined && options.dataDirectory !== undefined)
    throw new TypeError(
      'A seeded run keeps nothing: over kept data it would make the same identifiers again.',
    )
  // The listener takes as long to load as the store to open, so they do so together.
  const listening = import('./http/listen.ts')
  const store = await openStore(options)
  try {
    const clock = options.clock ?? (await openClock(options, store))
    const identifiers = createIdentifiers(() => clock.now(), options.seed)
    return await startOn({ ...options, ...identifiers, clock, store, listening })
  } catch (error) {
    await store.close()
    throw error
  }
}

function openStore({ dataDirectory, onNotice = ignore, keepEvents = KEPT_EVENTS }: SimulatorOptions) {
  if (dataDirectory === undefined) return createMemoryStore({ keepEvents })
  return openFileStore({ directory: dataDirectory, onNotice, keepEvents })
}

/** The service's own clock, which goes on where it was left (a frozen one runs again). */
async function openClock(options: SimulatorOptions, store: Store): Promise<MovableClock> {
  const { startAt, onNotice = ignore } = options
  if (options.seed !== undefined) {
    const { time, frozen } = freshTime(options)
    return createMovableClock({ start: time, frozen })
  }
  const kept = createKeptClock(options.dataDirectory)
  const [newest] = (await store.list('events', { limit: 1 })).data
  const start = startOfTime({ wanted: startAt, offset: await kept.read(), newest, now: new Date() })
  if (start?.notice !== undefined) onNotice(start.notice)
  const clock = createMovableClock({ start: start?.time })
  if (startAt !== undefined) await kept.save(clock.offsetMs())
  return clock
}

/** Where the clock of a fresh service is: that of a seeded run stands still, or nothing could be repeated. */
function freshTime({ seed, startAt }: SimulatorOptions) {
  return seed === undefined
    ? { time: startAt, frozen: false }
    : { time: startAt ?? SEEDED_START, frozen: true }
}

interface Parts extends SimulatorOptions, Identifiers {
  listening: Promise<typeof import('./http/listen.ts')>
  /** The service's own one can be moved. */
  clock: Clock | MovableClock
  store: Store
}

async function startOn(parts: Parts): Promise<Simulator> {
  const { store, clock, newId, newSecret, newApiKey, listening, onError = ignore } = parts
  const service = createService({ store, clock, newId, newSecret })
  const { apiKey, tableSecret } = await furnish(service, parts)
  const log = createRequestLog()
  const stream = createStream(service, log)
  const tables = { service, tableSecret, now: () => clock.now(), stream: createTableStream(service) }
  const pages = createPages()
  const own: { address?: OwnAddress; url?: string } = {}
  let stopping = false
  const faults = { seed: parts.seed ?? 1, deliveries: createDeliveryFaults(service), api: createApiFaults() }
  const deliveries = openDeliveries(service, parts, {
    faults: faults.deliveries,
    async clearFaults() {
      faults.api.set([], faults.seed)
      await faults.deliveries.set([], faults.seed)
    },
    own: () => own.address,
    isStopping: () => stopping,
  })
  const host = parts.host ?? defaults.host
  const measure = measureOf(parts)
  const startedAt = (parts.seed === undefined ? new Date() : clock.now()).toISOString()
  const app = createApp({
    service,
    log,
    newId,
    now: () => clock.now(),
    measure,
    tables: {
      '/v1': v1Routes({
        service,
        log,
        strict: parts.strict ?? false,
        judgeDestination: deliveries.judge,
        deliverNow: deliveries.attempt,
      }),
      '/_sim': simRoutes({
        service,
        log,
        stream,
        newApiKey,
        judgeDestination: deliveries.judge,
        clock: deliveries.clock,
        faults,
        state: deliveries.state,
        tableUrl: (table) => reachableUrl(own.url ?? '') + tablePath(tableSecret, table),
        health: () => ({ started_at: startedAt }),
      }),
      '/t': [...pageRoutes(tables, pages), ...tableRoutes(tables)],
      '/assets': assetRoutes(pages),
    },
    checkOrigin: createHostCheck(host, parts.allowedHosts ?? []),
    bodyLimit: parts.bodyLimit ?? defaults.bodyLimit,
    rateLimit: parts.rateLimit,
    isStopping: () => stopping,
    faults: faults.api,
    report: onError,
  })
  const certificate = await ownCertificate(parts, host)
  const { openDoor } = await listening
  const door = await openDoor(app, newId, {
    port: parts.port ?? defaults.port,
    host,
    https: certificate,
    limits: parts.connectionLimits,
  }).catch(async (error: unknown) => {
    stream.close()
    tables.stream.close()
    await deliveries.stop()
    throw error
  })
  own.address = { host, port: door.port }
  own.url = door.url
  deliveries.begin()
  return {
    url: door.url,
    baseUrl: `${door.url}/v1`,
    apiKey,
    ca: certificate?.authority,
    idle: deliveries.idle,
    async close() {
      stopping = true
      faults.api.stop()
      stream.close()
      tables.stream.close()
      await Promise.all([door.close(GRACE_MS), deliveries.stop()])
      await store.close()
    },
  }
}

/** What deliveries ask of the service around them. */
interface Surroundings {
  faults: DeliveryFaults
  clearFaults: () => Promise<void>
  own: () => OwnAddress | undefined
  isStopping: () => boolean
}

/** Everything that goes out: where it may go, whom it trusts, and when it is sent. */
function openDeliveries(
  service: Service,
  parts: Parts,
  { faults, clearFaults, own, isStopping }: Surroundings,
) {
  const { clock, dataDirectory, authorityDirectory = dataDirectory, onError = ignore } = parts
  const policy = createDestinationPolicy({
    allowHttpLoopback: parts.allowHttpLoopback ?? false,
    denyPrivate: parts.denyPrivate ?? false,
    own,
  })
  const local = () =>
    authorityDirectory === undefined ? undefined : readAuthorityCertificate(authorityDirectory)
  const trust = { ca: parts.ca ?? [], insecure: parts.insecure ?? false, local: async () => local() }
  const sender = createSender({ policy, trust, measure: measureOf(parts) })
  const deliver = createDeliver({
    service,
    sender,
    clock,
    faults,
    signNow: parts.signTime === 'virtual' ? () => clock.now() : () => new Date(),
    serviceName: parts.serviceName ?? defaults.serviceName,
    disableAfter: parts.disableAfter ?? defaults.disableAfter,
    onRecorded: (delivery, attempt) => controls?.note(delivery, attempt),
  })
  let started: Pump | undefined
  // What an earlier run has left is due at once, so nothing is taken up before the door tells its own address.
  const pump = () =>
    (started ??= createPump({
      service,
      deliver,
      clock,
      limits: limitsOf(parts),
      onError: (error) => onError(error),
    }))
  const settle = () => pump().settle()
  const kept = createKeptClock(dataDirectory)
  const controls: ClockControls | undefined =
    'moveTo' in clock ? createClockControls({ clock, settle, kept, isStopping }) : undefined
  const interrupt: Pump['interrupt'] = (work) => pump().interrupt(work)
  const { restartAfter } = parts
  const fresh = freshTime(parts)
  return {
    clock: controls,
    state:
      controls &&
      createStateControls({ service, clock: controls, interrupt, fresh, clearFaults, restartAfter }),
    async judge(url: string) {
      const reason = await policy.refuse(url)
      return reason === undefined ? { url: normalUrl(url) } : { reason }
    },
    begin: () => void pump(),
    attempt: (id: string) => pump().attempt(id),
    idle: () => pump().idle(),
    async stop() {
      await started?.stop({ graceMs: GRACE_MS })
      await controls?.ended()
      await sender.close()
    },
  }
}

/** Nothing of a seeded run may depend on how quick this machine is. */
function measureOf({ seed, clock }: Parts): (() => number) | undefined {
  return seed === undefined ? undefined : () => clock.now().getTime()
}

/** One delivery after the other, a receiver of a seeded run gets them in one order and its answers are recorded in it. */
function limitsOf({ seed }: Parts): Partial<PumpLimits> {
  return seed === undefined ? {} : { perEndpoint: 1 }
}

async function ownCertificate(
  { https, dataDirectory, authorityDirectory = dataDirectory }: Parts,
  host: string,
) {
  if (https !== true) return undefined
  if (authorityDirectory === undefined)
    throw new TypeError('HTTPS needs a directory where the local authority is kept.')
  const authority = await openAuthority(authorityDirectory)
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', host])]
  return { ...(await authority.issue(hosts)), authority: authority.certificatePem }
}

function ignore(): void {}
