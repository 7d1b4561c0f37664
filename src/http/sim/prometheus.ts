import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client'
import { attemptOutcomes } from '../../model/delivery.ts'
import { pushOutcomes } from '../../model/simulator/request-entry.ts'
import type { Histogram as Counted, Metrics } from './metrics.ts'

/** Values that a scrape reads besides the counts; `undefined` where one does not apply. */
export interface Gauges {
  version: string
  /** Seconds since the earliest due delivery was due; 0 when none is due. */
  deliveryLag: () => Promise<number>
  shared: SharedGauges | undefined
}

export interface SharedGauges {
  connections: () => { open: number; idle: number; waiting: number }
  /** Number of batches that lost against another instance. */
  conflicts: () => number
  /** Number of slots of endpoints that this instance delivers to. */
  slots: () => number | undefined
}

/** Registers all metrics of an instance. Its `metrics()` returns Prometheus' text format. */
export function createRegistry(metrics: Metrics, { version, deliveryLag, shared }: Gauges): Registry {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = (
    name: string,
    help: string,
    label: string,
    read: () => Iterable<readonly [string, number]>,
  ) =>
    new Counter({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        this.reset()
        for (const [value, count] of read()) this.inc({ [label]: value }, count)
      },
    })
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  new Gauge({ name: 'tabwire_info', help: 'Version of Tabwire.', labelNames: ['version'], registers }).set(
    { version },
    1,
  )
  counter('tabwire_pushes_total', 'Pushes of checks by outcome.', 'outcome', () =>
    pushOutcomes.map((outcome) => [outcome, metrics.pushes.get(outcome) ?? 0]),
  )
  counter('tabwire_delivery_attempts_total', 'Recorded delivery attempts by outcome.', 'outcome', () =>
    attemptOutcomes.map((outcome) => [outcome, metrics.attempts.get(outcome) ?? 0]),
  )
  registry.registerMetric(
    countedHistogram(
      'tabwire_commit_transactions',
      'Transactions that became durable together.',
      metrics.batchSizes,
    ),
  )
  registry.registerMetric(
    countedHistogram(
      'tabwire_commit_seconds',
      'Time until transactions were durable.',
      metrics.commitSeconds,
    ),
  )
  gauge('tabwire_delivery_lag_seconds', 'Time since the earliest due delivery was due.', deliveryLag)
  if (shared === undefined) return registry
  counter(
    'tabwire_store_conflicts_total',
    'Batches that were decided again after a write of another instance.',
    'store',
    () => [['postgres', shared.conflicts()]],
  )
  if (shared.slots() !== undefined)
    gauge(
      'tabwire_slots_held',
      'Slots of endpoints that this instance delivers to.',
      () => shared.slots() ?? 0,
    )
  new Gauge({
    name: 'tabwire_database_connections',
    help: 'Connections of the pool by state, and callers that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      const { open, idle, waiting } = shared.connections()
      this.set({ state: 'busy' }, open - idle)
      this.set({ state: 'idle' }, idle)
      this.set({ state: 'waiting' }, waiting)
    },
  })
  return registry
}

/**
 * Returns a metric of values that were counted before this library was loaded. Registries ask metrics only for their values,
 * which the types do not say.
 */
function countedHistogram(name: string, help: string, counted: Counted): Metric {
  const get = async () => {
    let total = 0
    const buckets = counted.counts.map((count, place) => {
      total += count
      return { metricName: `${name}_bucket`, labels: { le: counted.bounds[place] ?? '+Inf' }, value: total }
    })
    const sum = { metricName: `${name}_sum`, labels: {}, value: counted.sum }
    const count = { metricName: `${name}_count`, labels: {}, value: total }
    return { name, help, type: 'histogram', values: [...buckets, sum, count], aggregator: 'sum' }
  }
  return { name, get } as object as Metric
}
