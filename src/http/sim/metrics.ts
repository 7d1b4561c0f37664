import type { AttemptOutcome, Delivery } from '../../model/delivery.ts'
import type { TraceContext } from '../../model/text/trace-context.ts'
import type { PushOutcome } from '../../model/simulator/request-entry.ts'
import { PushConflict } from '../../operations/push-conflicts.ts'
import { pushCheck, type PushReply } from '../../operations/push-check.ts'
import { recordAttempt, type RecordAttempt } from '../../operations/record-attempt.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Service } from '../../service.ts'

/** Counts of this instance since its start. Counting needs no library; `prometheus.ts` writes them as text. */
export interface Metrics {
  pushes: ReadonlyMap<PushOutcome, number>
  attempts: ReadonlyMap<AttemptOutcome, number>
  batchSizes: Histogram
  commitSeconds: Histogram
  /** Returns the service with pushes and attempts counted. */
  counted(service: Service): Service
  /** Counts transactions that became durable together. */
  committed(batch: { transactions: number; seconds: number }): void
}

/** Counts of values up to each bound, and of all values. */
export interface Histogram {
  bounds: readonly number[]
  /** One more than bounds: the last is for values above all of them. */
  counts: number[]
  sum: number
}

export function createMetrics(): Metrics {
  const pushes = new Map<PushOutcome, number>()
  const attempts = new Map<AttemptOutcome, number>()
  const batchSizes = newHistogram([1, 2, 4, 8, 16, 32, 64])
  const commitSeconds = newHistogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2])
  return {
    pushes,
    attempts,
    batchSizes,
    commitSeconds,
    counted: (service) => ({
      ...service,
      async execute(operation: Operation<never, never, never>, command: never, trace?: TraceContext) {
        try {
          const reply: unknown = await service.execute(operation, command, trace)
          const done: unknown = operation
          if (done === pushCheck) increment(pushes, (reply as PushReply).outcome)
          if (done === recordAttempt) {
            const { attempt, result } = command as RecordAttempt
            // Another instance may have recorded this attempt.
            const recorded = (reply as Delivery).attempts[attempt - 1]
            if (recorded?.started_at === result.started_at) increment(attempts, result.outcome)
          }
          return reply as never
        } catch (error) {
          if (error instanceof PushConflict) increment(pushes, 'conflict')
          throw error
        }
      },
    }),
    committed({ transactions, seconds }) {
      observe(batchSizes, transactions)
      observe(commitSeconds, seconds)
    },
  }
}

function newHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
}

function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram
  const at = bounds.findIndex((bound) => value <= bound)
  const place = at === -1 ? bounds.length : at
  counts[place] = (counts[place] ?? 0) + 1
  histogram.sum += value
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
