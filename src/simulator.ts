import { limited, type CallOptions } from './client/limit.ts'
import type { OwnAddress } from './delivery/destination/policy.ts'
import { requireAbortSignals } from './delivery/pump-timing.ts'
import type { InProcessReceivers } from './delivery/send/in-process.ts'
import { seedStore } from './simulator/seed-store.ts'
import { createApp, type App } from './http/app.ts'
import { createAuthenticate, hashOf } from './http/auth/api-key.ts'
import { assetRoutes, docsRoutes, inspectorPageRoutes } from './http/pages.ts'
import { createApiReference, documentRoutes } from './http/openapi/routes.ts'
import { createAllowedHosts, createHostCheck, type IsAllowedHost } from './http/auth/host-check.ts'
import { type Fetch, NO_PORT_URL, openInProcessServer } from './http/in-process.ts'
import { SHUTTING_DOWN, type Phase } from './http/router.ts'
import { mcpRoutes, type AnswerMcp } from './http/mcp.ts'
import { reachableUrl, tablePath } from './table-address.ts'
import { createRequestLog } from './http/request-log/log.ts'
import { createSessions } from './http/auth/sessions.ts'
import { createMetrics, type Metrics } from './http/sim/metrics.ts'
import type { MonitoringParts } from './http/sim/monitoring.ts'
import type { SimParts } from './http/sim/routes.ts'
import { createStream } from './http/stream/stream.ts'
import { createTableStream } from './http/guest-table/stream.ts'
import { v1Routes } from './http/v1/routes.ts'
import { isMovable } from './clock.ts'
import { createIdentifiers, newToken } from './ids.ts'
import type { Delivery } from './model/delivery.ts'
import type { Bundle, BundleSettings } from './model/simulator/bundle.ts'
import { Refusal } from './model/refusal.ts'
import { inspectorLink } from './model/simulator/inspector-link.ts'
import { texts, wholeNumbers } from './model/simulator/settings.ts'
import { createPages } from './pages/pages.ts'
import { createService, type Service } from './service.ts'
import { openFileStore } from './store/file-store.ts'
import { createMemoryStore } from './store/memory-store.ts'
import { createLocalValues } from './store/shared-values.ts'
import type { SimulatorOptions } from './simulator-options.ts'
import { ownCertificate, DRAIN_TIMES, GRACE_MS, type Parts } from './simulator/parts.ts'
import { packageVersion } from './package-file.ts'
import { clockNow, measureOf, openClock } from './simulator/clock.ts'
import { createFaults } from './simulator/faults.ts'
import { compareSettings, newestIdIn, sharingOf } from './simulator/sharing.ts'
import { createAnswerOffered, openDeliveries } from './simulator/deliveries.ts'
import { readSettings, type Settings } from './simulator/settings.ts'
import { timers } from './timers.ts'

export type { SimulatorOptions } from './simulator-options.ts'

/** A running service. */
export interface StartedSimulator {
  /** Base URL of the service. The API is under `/v1`, the simulator's own controls under `/_sim`. */
  url: string
  /** `url` with `/v1`: the base URL for a client of the API. */
  baseUrl: string
  /** API key with all scopes. */
  apiKey: string
  /** PEM of the authority that issued the service's own certificate, when it runs on HTTPS. */
  ca: string | undefined
  /**
   * Calls the service in this process. Takes a path, or a URL with any origin.
   * @example
   * const answer = await simulator.fetch('/v1/locations', { headers: { authorization: `Bearer ${simulator.apiKey}` } })
   */
  fetch: Fetch
  /**
   * Handles deliveries to a URL, and to all paths below it, in this process. The result removes the handler.
   * @example
   * simulator.receive('https://shop.example/webhooks', (request) => app.fetch(request))
   */
  receive: InProcessReceivers['add']
  /** Returns the error that a handler of `receive` threw at the newest attempt of a delivery; otherwise `undefined`. */
  thrownBy(delivery: Pick<Delivery, 'id' | 'attempts'>): unknown
  /** Returns a new URL of the inspector, with the first key. It is valid once and for ten minutes. */
  inspectorLink(): string
  /**
   * Resolves when no delivery is due or in flight. Does not wait for an endpoint with five new deliveries after one
   * second, or after three while its receiver is quick.
   * @default options.timeout is unlimited
   * @throws TimedOut, with the deliveries that are still due or in flight.
   */
  idle(options?: CallOptions): Promise<void>
  /**
   * Waits up to 4 seconds for requests and attempts in flight, then stops. Everything acknowledged is durable. With
   * `drain`, first handles requests for up to 2 of these seconds while `/_sim/ready` answers 503.
   */
  close(options?: { drain?: boolean }): Promise<void>
}

/**
 * Starts a complete service: wires store, operations, deliveries and HTTP together.
 * @throws TypeError for invalid options, StoreDamaged, DirectoryInUse, DirectoryUnusable or PortUnavailable; then
 * nothing keeps running.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<StartedSimulator> {
  requireAbortSignals()
  const settings = await readSettings(options)
  // Loading the listener takes as long as opening the store, so both run concurrently.
  const listening = settings.port === false ? undefined : import('./http/listen.ts')
  const metrics = createMetrics()
  const { store, values, shared } = await openStore(settings, metrics.committed)
  try {
    const clock = settings.clock ?? (await openClock(settings, { store, values, shared }))
    const identifiers = createIdentifiers(() => clock.now(), settings.seed)
    // A clock that is frozen since before the start gives new identifiers the time of stored ones.
    if (shared === undefined && isMovable(clock) && clock.isFrozen())
      identifiers.restartAfter(await newestIdIn(store))
    return await startOn({
      ...settings,
      ...identifiers,
      clock,
      store,
      values,
      shared,
      metrics,
      instance: newToken(),
      listening,
    })
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Starts a service in memory that shows a bundle: all records, requests and faults as they were, with the clock frozen at
 * that moment. It sends no deliveries and injects no faults.
 */
export async function startReplay(
  bundle: Bundle,
  settings: Pick<SimulatorOptions, 'port' | 'host' | 'onError'>,
): Promise<StartedSimulator> {
  const listening = settings.port === false ? undefined : import('./http/listen.ts')
  const { partsOfReplay } = await import('./simulator/replay.ts')
  return startOn({ ...partsOfReplay(bundle, settings), listening })
}

async function openStore(
  settings: Settings,
  onBatch: Metrics['committed'],
): Promise<Pick<Parts, 'store' | 'values' | 'shared'>> {
  const { dataDirectory, storeUrl: url, keepEvents, onNotice, onError } = settings
  if (url !== undefined) {
    // Loaded late: without `--store`, a start needs neither this module nor the package `pg`.
    const { openPostgresStore } = await import('./store/postgres/postgres-store.ts')
    const { sandbox = texts.sandbox } = settings
    const shared = await openPostgresStore({
      url,
      sandbox,
      storeKey: settings.storeKey,
      keepEvents,
      onBatch,
      onNotice,
      onError,
    })
    return { store: shared, values: shared.values, shared }
  }
  const values = createLocalValues()
  if (dataDirectory === undefined)
    return { store: createMemoryStore({ keepEvents }), values, shared: undefined }
  const store = await openFileStore({ directory: dataDirectory, onNotice, onBatch, keepEvents })
  return { store, values, shared: undefined }
}

async function startOn(parts: Parts): Promise<StartedSimulator> {
  const { store, clock, newId, newSecret, newApiKey, shared, replay, onError } = parts
  const { host, orderBy, serviceName, metrics = createMetrics() } = parts
  const service = metrics.counted(createService({ store, clock, newId, newSecret }))
  const shown = replay && (await showReplay(service, replay))
  const { apiKey, tableSecret } = await seedStore(service, parts)
  await compareSettings(parts)
  const certificate = await ownCertificate(parts)
  const token = await streamToken(parts)
  // After everything that may fail, because the log and the streams start timers.
  const log = await openRequestLog(service, parts)
  const bringUpToDate = shared && (() => service.bringUpToDate().then(log.bringUpToDate))
  const stream = createStream(service, log, { token, bringUpToDate, serviceName })
  const tableStream = createTableStream(service)
  const closeStreams = () => {
    stream.close()
    tableStream.close()
  }
  const pages = createPages()
  const { sessions: sharedSessions, ...sharing } = sharingOf(parts)
  const sessions = createSessions({ newToken, ...sharedSessions })
  const own: { address?: OwnAddress; url?: string } = {}
  const ownUrl = () => parts.publicUrl ?? reachableUrl(own.url ?? NO_PORT_URL)
  const lifecycle: { phase: Phase } = { phase: 'running' }
  const injected = createFaults(service, parts)
  const faults = shown?.faults ?? injected.controls
  const context = {
    faults: injected.deliveries,
    clearFaults: async () => void (await faults.set(undefined, [])),
    own,
    isStopping: () => lifecycle.phase === 'stopping',
  }
  const deliveries = (shown?.openDeliveries ?? openDeliveries)(service, parts, context)
  const isAllowedHost = createAllowedHosts(host, allowedHostsOf(parts))
  const measure = measureOf(parts)
  const startedAt =
    replay?.started_at ?? (parts.seed === undefined ? new Date(timers.now()) : clock.now()).toISOString()
  const recording = replay && { recorded_at: replay.recorded_at, tabwire: replay.tabwire, node: replay.node }
  const reference = createApiReference({
    serviceName,
    scheme: parts.https === true ? 'https' : 'http',
    url: ownUrl,
    renderPage: (document) => pages.reference(document),
  })
  const apiParts = {
    service,
    log,
    time: clock,
    strict: parts.strict,
    orderBy,
    deliverNow: deliveries.attempt,
    judgeDestination: deliveries.judgeDestination,
  }
  const simParts = (): SimParts => ({
    ...apiParts,
    sessions,
    url: ownUrl,
    serviceName,
    replay: recording,
    stream,
    newApiKey,
    answerOffered: createAnswerOffered(service),
    clock: deliveries.clock,
    faults,
    state: deliveries.state,
    tableUrl: (table) => ownUrl() + tablePath(tableSecret, table),
    health: () => ({
      started_at: startedAt,
      order_by: orderBy,
      service_name: serviceName,
      ...(recording && { replay: recording }),
    }),
    monitoring: monitoringParts(parts, { service, metrics, lifecycle }),
    bundle: bundleParts(parts, { apiKey, orderBy, startedAt }),
  })
  const answerMcpRequest: AnswerMcp = async (...call) => {
    // Loaded late: a service that no agent calls does not need the SDK.
    const { answerAtService } = await import('./mcp/at-service.ts')
    return answerAtService({ url, serviceName, fetch: inProcess.fetch, ...deliveries }, ...call)
  }
  const app = createApp({
    service,
    sessions,
    log,
    newId,
    clock,
    measure,
    tables: {
      '/v1': v1Routes(apiParts),
      // Loaded for their first request: what only these routes need takes 40 ms.
      '/_sim': async () => {
        const { simRoutes } = await import('./http/sim/routes.ts')
        return simRoutes(simParts())
      },
      '/t': async () => {
        const { tableRoutes } = await import('./http/guest-table/routes.ts')
        return tableRoutes({ service, tableSecret, clock, stream: tableStream, pages })
      },
      '/assets': assetRoutes(pages),
      '/docs': docsRoutes(pages, reference),
      '/openapi.json': documentRoutes(reference),
      '/mcp': mcpRoutes({
        authenticate: createAuthenticate(service, sharing.keyCache),
        answer: answerMcpRequest,
      }),
      '': inspectorPageRoutes(pages),
    },
    checkOrigin: createHostCheck(isAllowedHost),
    bodyLimit: parts.bodyLimit ?? wholeNumbers.bodyLimit.default,
    rateLimit: parts.rateLimit,
    ...sharing,
    trace: parts.trace,
    lifecycle,
    faults: replay === undefined ? injected.api : undefined,
    onRequest: parts.onRequest,
    report: onError,
  })
  const server = await openPort(app, parts, certificate, isAllowedHost).catch(async (error: unknown) => {
    closeStreams()
    await Promise.all([deliveries.stop(GRACE_MS), log.close()])
    throw error
  })
  const url = server?.url ?? NO_PORT_URL
  if (server !== undefined) own.address = { host, port: server.port }
  own.url = url
  const inProcess = openInProcessServer(app, url)
  deliveries.begin()
  return {
    url,
    baseUrl: `${url}/v1`,
    apiKey,
    ca: certificate?.authority,
    fetch: inProcess.fetch,
    receive: deliveries.receive,
    thrownBy: deliveries.thrownBy,
    inspectorLink() {
      const { code, stored } = sessions.invite(hashOf(apiKey))
      stored.catch(onError)
      return inspectorLink(ownUrl(), code)
    },
    idle: (options = {}) => limited(options, deliveries.idle),
    async close({ drain = false } = {}) {
      lifecycle.phase = 'draining'
      const began = timers.elapsed()
      if (drain) await server?.drain(DRAIN_TIMES)
      lifecycle.phase = 'stopping'
      injected.api.stop()
      closeStreams()
      const graceMs = GRACE_MS - (timers.elapsed() - began)
      try {
        await Promise.all([server?.close(graceMs), inProcess.close(graceMs), deliveries.stop(graceMs)])
      } finally {
        try {
          await log.close()
        } finally {
          await store.close()
        }
      }
    },
  }
}

async function showReplay(service: Service, bundle: Bundle) {
  const { showBundle } = await import('./simulator/replay.ts')
  return showBundle(service, bundle)
}

/** Returns what `/_sim/ready` and `/_sim/metrics` show. */
function monitoringParts(
  { clock, shared }: Parts,
  started: Pick<MonitoringParts, 'service' | 'metrics'> & { lifecycle: { phase: Phase } },
): MonitoringParts {
  const { service, metrics, lifecycle } = started
  return {
    service,
    metrics,
    version: packageVersion(),
    clock,
    async ready() {
      if (lifecycle.phase !== 'running') throw new Refusal('shutting_down', SHUTTING_DOWN)
      await shared?.bringUpToDate()
    },
    shared: shared && {
      connections: shared.database.connections,
      conflicts: () => shared.counts().conflicts,
      slots: shared.slotCount,
    },
  }
}

/** Returns the parts of bundles that no other route has. */
function bundleParts(
  parts: Parts,
  { apiKey, orderBy, startedAt }: { apiKey: string; orderBy: BundleSettings['order_by']; startedAt: string },
): SimParts['bundle'] {
  return {
    apiKey,
    clockNow: () => clockNow(parts.clock),
    program: () => ({
      tabwire: packageVersion(),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      recorded_at: new Date(timers.now()).toISOString(),
      started_at: startedAt,
    }),
    settings: {
      service_name: parts.serviceName,
      order_by: orderBy,
      strict: parts.strict,
      disable_after: parts.disableAfter,
      keep_events: parts.keepEvents,
      sign_time: parts.signTime,
      seed: parts.seed ?? null,
    },
  }
}

/** Opens the log of requests. In a shared sandbox, it has the requests of all instances. */
async function openRequestLog(service: Service, { clock, orderBy, replay, shared, onError }: Parts) {
  const parts = { service, clock, orderBy }
  if (shared === undefined) return createRequestLog({ ...parts, saved: replay?.log })
  const [{ openSharedLog }, { createRequestRows }] = await Promise.all([
    import('./http/request-log/shared-log.ts'),
    import('./store/postgres/request-rows.ts'),
  ])
  const rows = createRequestRows(shared.database, newToken())
  return openSharedLog({ ...parts, rows, newId: newToken, onError })
}

/** Returns the token of the stream: that of the sandbox, or of this process. */
function streamToken({ values }: Pick<Parts, 'values'>): Promise<string> {
  return values.update('stream', (kept) => {
    const value = typeof kept === 'string' ? kept : newToken()
    return { value, reply: value }
  })
}

/** Opens the port; returns `undefined` when the service has none. */
async function openPort(
  app: App,
  parts: Parts,
  https: Awaited<ReturnType<typeof ownCertificate>>,
  isAllowedHost: IsAllowedHost,
) {
  const { listening, host, port = wholeNumbers.port.default, connectionLimits: limits, ref, onNotice } = parts
  if (listening === undefined || port === false) return undefined
  const { openServer } = await listening
  return openServer(app, { port, host, https, limits, isAllowedHost, ref, onNotice })
}

function allowedHostsOf({ allowedHosts = [], publicUrl }: Parts): readonly string[] {
  return publicUrl === undefined ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname]
}
