import { limited, type CallOptions } from './client/limit.ts'
import { createDeliveryFaults } from './delivery/faults/faults.ts'
import type { OwnAddress } from './delivery/destination/policy.ts'
import type { InProcessReceivers } from './delivery/send/in-process.ts'
import { seedStore } from './simulator/seed-store.ts'
import { createApiFaults } from './http/sim/api-faults.ts'
import { createApp, type App } from './http/app.ts'
import { createAuthenticate, hashOf } from './http/auth/api-key.ts'
import { assetRoutes, docsRoutes, inspectorPageRoutes, pageRoutes } from './http/pages.ts'
import { createDocuments, documentRoutes } from './http/openapi/routes.ts'
import { createAllowedHosts, createHostCheck, type IsAllowedHost } from './http/auth/host-check.ts'
import { type Fetch, NO_PORT_URL, openInProcessServer } from './http/in-process.ts'
import { mcpRoutes, type AnswerMcp } from './http/mcp.ts'
import { inspectorRoutes } from './http/sim/inspector.ts'
import { reachableUrl, tablePath } from './table-address.ts'
import { createRequestLog } from './http/request-log/log.ts'
import { sessionRoutes } from './http/sim/sessions.ts'
import { createSessions } from './http/auth/sessions.ts'
import { simRoutes } from './http/sim/routes.ts'
import { createStream } from './http/stream/stream.ts'
import { tableRoutes } from './http/guest-table/routes.ts'
import { createTableStream } from './http/guest-table/stream.ts'
import { v1Routes } from './http/v1/routes.ts'
import { createIdentifiers, newToken } from './ids.ts'
import type { Delivery } from './model/delivery.ts'
import type { Bundle } from './model/simulator/bundle.ts'
import { inspectorLink } from './model/simulator/inspector-link.ts'
import { texts, wholeNumbers } from './model/simulator/settings.ts'
import { createPages } from './pages/pages.ts'
import { createService } from './service.ts'
import { openFileStore } from './store/file-store.ts'
import { KEPT_EVENTS } from './store/retention.ts'
import { createMemoryStore } from './store/memory-store.ts'
import type { SimulatorOptions } from './simulator-options.ts'
import { ownCertificate, GRACE_MS, type Parts } from './simulator/parts.ts'
import { packageVersion } from './package-file.ts'
import { openDeliveries } from './simulator/deliveries.ts'
import {
  loadRecords,
  partsOfReplay,
  shownFaults,
  stillDeliveries,
  type ReplaySettings,
} from './simulator/replay.ts'
import { readSettings, type Settings } from './simulator/settings.ts'
import { clockNow, measureOf, openClock } from './simulator/clock.ts'
import { timers } from './timers.ts'

export type { SimulatorOptions } from './simulator-options.ts'

/** A running service. */
export interface Simulator {
  /** Base URL of the service. The API is under `/v1`, the simulator's own controls under `/_sim`. */
  url: string
  baseUrl: string
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
   * Resolves when no delivery is due or in flight. Under steady traffic, ignores deliveries created more than a second
   * after the call.
   * @throws TimedOut
   */
  idle(options?: CallOptions): Promise<void>
  /** Waits up to 4 seconds for requests and attempts in flight, then stops. Everything acknowledged is durable. */
  close(): Promise<void>
}

/**
 * Starts a complete service: wires store, operations, deliveries and HTTP together.
 * @throws TypeError for invalid options, StoreDamaged, DirectoryInUse, DirectoryUnusable or PortUnavailable; then
 * nothing keeps running.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = await readSettings(options)
  const { serviceName = texts.serviceName } = settings
  // Loading the listener takes as long as opening the store, so both run concurrently.
  const listening = settings.port === false ? undefined : import('./http/listen.ts')
  const store = await openStore(settings)
  try {
    const clock = settings.clock ?? (await openClock(settings, store))
    const identifiers = createIdentifiers(() => clock.now(), settings.seed)
    return await startOn({ ...settings, ...identifiers, serviceName, clock, store, listening })
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Starts a service in memory that shows a bundle: all records, requests and faults as they were, with the clock frozen at
 * that moment. It sends no deliveries and injects no faults.
 */
export async function startReplay(bundle: Bundle, settings: ReplaySettings): Promise<Simulator> {
  const listening = settings.port === false ? undefined : import('./http/listen.ts')
  return startOn({ ...partsOfReplay(bundle, settings), listening })
}

function openStore({ dataDirectory, onNotice = ignore, keepEvents = KEPT_EVENTS }: Settings) {
  if (dataDirectory === undefined) return createMemoryStore({ keepEvents })
  return openFileStore({ directory: dataDirectory, onNotice, keepEvents })
}

async function startOn(parts: Parts): Promise<Simulator> {
  const { store, clock, newId, newSecret, newApiKey, replay, onError = ignore } = parts
  const service = createService({ store, clock, newId, newSecret })
  if (replay !== undefined) await loadRecords(service, replay)
  const { apiKey, tableSecret } = await seedStore(service, parts)
  const orderBy = parts.orderBy ?? texts.orderBy
  const log = createRequestLog({ service, now: () => clock.now(), orderBy, saved: replay?.log })
  const stream = createStream(service, log)
  const tables = { service, tableSecret, now: () => clock.now(), stream: createTableStream(service) }
  const pages = createPages()
  const sessions = createSessions({ newToken, measure: timers.elapsed })
  const own: { address?: OwnAddress; url?: string } = {}
  const ownUrl = () => reachableUrl(own.url ?? '')
  const { serviceName } = parts
  let stopping = false
  const injected = { deliveries: createDeliveryFaults(service), api: createApiFaults() }
  const faults = replay === undefined ? { seed: parts.seed ?? 1, ...injected } : shownFaults(replay)
  const context = {
    faults: injected.deliveries,
    async clearFaults() {
      await faults.api.set([], faults.seed)
      await faults.deliveries.set([], faults.seed)
    },
    own: () => own.address,
    isStopping: () => stopping,
  }
  const deliveries = (replay === undefined ? openDeliveries : stillDeliveries)(service, parts, context)
  const host = parts.host ?? texts.host
  const isAllowedHost = createAllowedHosts(host, parts.allowedHosts ?? [])
  const measure = measureOf(parts)
  const startedAt =
    replay?.started_at ?? (parts.seed === undefined ? new Date(timers.now()) : clock.now()).toISOString()
  const recording = replay && { recorded_at: replay.recorded_at, tabwire: replay.tabwire, node: replay.node }
  const documentFor = createDocuments({ serviceName, scheme: parts.https === true ? 'https' : 'http' })
  const apiParts = {
    service,
    log,
    strict: parts.strict ?? false,
    orderBy,
    deliverNow: deliveries.attempt,
  }
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
    now: () => clock.now(),
    measure,
    tables: {
      '/v1': v1Routes({ ...apiParts, judgeDestination: deliveries.judge }),
      '/_sim': [
        ...sessionRoutes({ service, sessions, url: ownUrl, serviceName, replay: recording }),
        ...inspectorRoutes(apiParts),
        ...simRoutes({
          service,
          serviceName,
          log,
          stream,
          newApiKey,
          judgeDestination: deliveries.judge,
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
          bundle: {
            apiKey,
            clockNow: () => clockNow(clock),
            program: () => ({
              tabwire: packageVersion(),
              node: process.version,
              platform: `${process.platform} ${process.arch}`,
              recorded_at: new Date(timers.now()).toISOString(),
              started_at: startedAt,
            }),
            settings: {
              service_name: serviceName,
              order_by: orderBy,
              strict: parts.strict ?? false,
              disable_after: parts.disableAfter ?? wholeNumbers.disableAfter.default,
              keep_events: parts.keepEvents ?? KEPT_EVENTS,
              sign_time: parts.signTime ?? 'real',
              seed: parts.seed ?? null,
            },
          },
        }),
      ],
      '/t': [...pageRoutes(tables, pages), ...tableRoutes(tables)],
      '/assets': assetRoutes(pages),
      '/docs': docsRoutes(pages, documentFor),
      '/openapi.json': documentRoutes(documentFor),
      '/mcp': mcpRoutes({ authenticate: createAuthenticate(service), answer: answerMcpRequest }),
      '': inspectorPageRoutes(pages),
    },
    checkOrigin: createHostCheck(isAllowedHost),
    bodyLimit: parts.bodyLimit ?? wholeNumbers.bodyLimit.default,
    rateLimit: parts.rateLimit,
    isStopping: () => stopping,
    faults: replay === undefined ? injected.api : undefined,
    report: onError,
  })
  const certificate = await ownCertificate(parts, host)
  const server = await openPort(app, parts, certificate, isAllowedHost).catch(async (error: unknown) => {
    stream.close()
    tables.stream.close()
    await deliveries.stop()
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
    inspectorLink: () => inspectorLink(ownUrl(), sessions.invite(hashOf(apiKey))),
    idle: (options = {}) => limited(options, deliveries.idle),
    async close() {
      stopping = true
      injected.api.stop()
      stream.close()
      tables.stream.close()
      await Promise.all([server?.close(GRACE_MS), inProcess.close(GRACE_MS), deliveries.stop()])
      await store.close()
    },
  }
}

/** Opens the port; returns `undefined` when the service has none. */
async function openPort(
  app: App,
  parts: Parts,
  https: Awaited<ReturnType<typeof ownCertificate>>,
  isAllowedHost: IsAllowedHost,
) {
  const {
    listening,
    host = texts.host,
    port = wholeNumbers.port.default,
    connectionLimits: limits,
    ref,
  } = parts
  if (listening === undefined || port === false) return undefined
  const { openServer } = await listening
  return openServer(app, { port, host, https, limits, isAllowedHost, ref })
}

function ignore(): void {}
