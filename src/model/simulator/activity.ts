import type { Attempt, Delivery } from '../delivery.ts'

/** Attempts over time: outcomes and response times, by the service's clock. */
export interface Activity {
  /** Number of deliveries whose attempts were counted. */
  deliveries: number
  /** Median response time of all attempts with a response, in milliseconds; `null` without any. */
  median_ms: number | null
  p95_ms: number | null
  /** Duration of one bucket, in milliseconds. */
  bucket_ms: number
  /** Without gaps, oldest first. */
  buckets: readonly ActivityBucket[]
}

export interface ActivityBucket {
  /** Start of the bucket, ISO 8601 UTC. */
  at: string
  succeeded: number
  /** Failed attempts with a retry. */
  failed: number
  /** Failed attempts without a retry. */
  dead: number
  /** Median response time of attempts with a response, in milliseconds; `null` without any. */
  median_ms: number | null
  p95_ms: number | null
}

/** Most bars that a screen shows legibly. */
const MOST_BUCKETS = 60

/** Widths of a bucket: from a second to a week, in common steps. */
const widthsMs = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800,
].map((seconds) => seconds * 1_000)

const widest = 604_800_000

/** Limits the counted attempts to those that started from `from` on and before `to`, ISO 8601 times. */
export interface TimeRange {
  from?: string | undefined
  to?: string | undefined
}

/** Counts the attempts of these deliveries in buckets of equal width. */
export function activityOf(deliveries: readonly Delivery[], range: TimeRange = {}): Activity {
  const counter = createActivityCounter(range)
  counter.add(deliveries)
  return counter.result()
}

/** Counts attempts of any number of deliveries, which callers add page by page. */
export function createActivityCounter({ from = '', to = '~' }: TimeRange = {}) {
  const attempts: Counted[] = []
  let counted = 0
  let first = Infinity
  let last = -Infinity
  return {
    add(deliveries: readonly Delivery[]): void {
      counted += deliveries.length
      for (const delivery of deliveries)
        for (const attempt of delivery.attempts) {
          if (attempt.started_at < from || attempt.started_at >= to) continue
          const time = Date.parse(attempt.started_at)
          first = Math.min(first, time)
          last = Math.max(last, time)
          const { response_status, duration_ms } = attempt
          const answeredMs = response_status === null ? undefined : duration_ms
          attempts.push({ time, end: endOf(attempt, delivery), answeredMs })
        }
    },
    result(): Activity {
      const bucket_ms = widthsMs.find((width) => (last - first) / width < MOST_BUCKETS - 1) ?? widest
      const start = Math.floor(first / bucket_ms) * bucket_ms
      const length =
        attempts.length === 0 ? 0 : Math.min(Math.floor((last - start) / bucket_ms) + 1, 10 * MOST_BUCKETS)
      const buckets = Array.from({ length }, (): Counted[] => [])
      for (const attempt of attempts) buckets[Math.floor((attempt.time - start) / bucket_ms)]?.push(attempt)
      return {
        deliveries: counted,
        ...latencyOf(attempts),
        bucket_ms,
        buckets: buckets.map((inBucket, index) =>
          bucketOf(new Date(start + index * bucket_ms).toISOString(), inBucket),
        ),
      }
    },
  }
}

interface Counted {
  /** Milliseconds since 1970. */
  time: number
  end: 'succeeded' | 'failed' | 'dead'
  /** Duration of an attempt with a response, in milliseconds. */
  answeredMs: number | undefined
}

function endOf({ outcome, number }: Attempt, { status, attempts }: Delivery): Counted['end'] {
  if (outcome === 'succeeded') return 'succeeded'
  return status === 'dead' && number === attempts.length ? 'dead' : 'failed'
}

function bucketOf(at: string, counted: readonly Counted[]): ActivityBucket {
  const bucket = { at, succeeded: 0, failed: 0, dead: 0, ...latencyOf(counted) }
  for (const { end } of counted) bucket[end] += 1
  return bucket
}

/** Returns quantiles of the response times. A typed array sorts 100,000 numbers in a tenth of the time. */
function latencyOf(counted: readonly Counted[]): Pick<Activity, 'median_ms' | 'p95_ms'> {
  const times = Float64Array.from(counted.flatMap(({ answeredMs }) => answeredMs ?? [])).sort()
  return { median_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) }
}

/** Returns the quantile of sorted values; `null` without any. */
function quantile(sorted: Float64Array, part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}
