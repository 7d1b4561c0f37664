import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import { timers } from '../../timers.ts'
import { ok, type Documented } from '../route.ts'
import type { Metrics } from './metrics.ts'
import type { Gauges, SharedGauges } from './prometheus.ts'

export interface MonitoringParts {
  service: Pick<Service, 'due'>
  metrics: Metrics
  version: string
  clock: { now(): Date }
  /** Resolves when the store has answered. */
  ready: () => Promise<void>
  /** Of a shared store. */
  shared: SharedGauges | undefined
}

/** Milliseconds until a store that does not answer counts as not ready. Probes wait a little longer. */
const READY_MS = 1_900

/** Routes for monitoring: readiness and metrics. */
export function monitoringRoutes(parts: MonitoringParts): Documented[] {
  let registry: Promise<{ metrics(): Promise<string>; contentType: string }> | undefined
  return [
    {
      method: 'GET',
      path: '/ready',
      scope: null,
      doc: {
        id: 'getReadiness',
        tag: 'Simulator state',
        summary: 'Check whether the service is ready',
        description:
          'Answers 503 with Retry-After while the database does not answer and while the service stops: for readiness probes and load balancers.',
        answers: { 200: { description: 'The service handles requests.', schema: 'Readiness' } },
      },
      async handle() {
        await within(READY_MS, parts.ready())
        return ok({ status: 'ready' })
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      scope: 'read',
      withoutDatabase: true,
      doc: {
        id: 'getMetrics',
        tag: 'Simulator state',
        summary: 'Retrieve metrics',
        description:
          "Returns metrics of this instance in Prometheus' text format: pushes, commits, delivery attempts, lag, and the process.",
        answers: { 200: { description: 'The metrics.', type: 'text/plain' } },
      },
      async handle() {
        const { metrics, contentType } = await (registry ??= register(parts))
        return { status: 200, headers: { 'content-type': contentType }, body: await metrics() }
      },
    },
  ]
}

/** Loads the library for the first scrape: without one, a start is faster. */
async function register({ metrics, version, clock, service, shared }: MonitoringParts) {
  const { createRegistry } = await import('./prometheus.ts')
  const gauges: Gauges = { version, shared, deliveryLag: () => deliveryLag(service, clock.now()) }
  const registry = createRegistry(metrics, gauges)
  return { metrics: () => registry.metrics(), contentType: registry.contentType }
}

/** Returns how many seconds ago the earliest due delivery was due; 0 when none is due. */
async function deliveryLag(service: Pick<Service, 'due'>, now: Date): Promise<number> {
  const { deliveries } = await service.due({ now, perEndpoint: 1, wanted: 1 })
  const times = deliveries.map(({ next_attempt_at }) => Date.parse(next_attempt_at ?? now.toISOString()))
  return Math.max(0, now.getTime() - Math.min(now.getTime(), ...times)) / 1_000
}

/** @throws Refusal `storage_unavailable` when `work` takes longer. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = timers.setTimeout(() => reject(new Refusal('storage_unavailable', NOT_READY)), ms)
  })
  await Promise.race([work, late]).finally(() => timers.clearTimeout(timer))
}

const NOT_READY = 'The store does not answer. Retry: the service continues once the store answers.'
