import type { Attempt, Delivery } from '../delivery.ts'

/** Attempts over time: outcomes and response times, by the service's clock. */
export interface Activity {
  /** Number of counted deliveries, the newest ones. */
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

/** Counts the attempts of these deliveries in buckets of equal width. */
export function activityOf(deliveries: readonly Delivery[]): Activity {
  const attempts = deliveries.flatMap((delivery) =>
    delivery.attempts.map((attempt) => ({ attempt, time: Date.parse(attempt.started_at), delivery })),
  )
  const [first, last] = attempts.reduce(
    ([least, most], { time }) => [Math.min(least, time), Math.max(most, time)],
    [Infinity, -Infinity],
  )
  const widest = widthsMs.at(-1) ?? 1
  const bucket_ms = widthsMs.find((width) => (last - first) / width < MOST_BUCKETS - 1) ?? widest
  const start = Math.floor(first / bucket_ms) * bucket_ms
  const length =
    attempts.length === 0 ? 0 : Math.min(Math.floor((last - start) / bucket_ms) + 1, 10 * MOST_BUCKETS)
  const buckets = Array.from({ length }, (): Counted[] => [])
  for (const { attempt, time, delivery } of attempts)
    buckets[Math.floor((time - start) / bucket_ms)]?.push({ attempt, end: endOf(attempt, delivery) })
  return {
    deliveries: deliveries.length,
    ...latencyOf(attempts.map(({ attempt }) => attempt)),
    bucket_ms,
    buckets: buckets.map((counted, index) =>
      bucketOf(new Date(start + index * bucket_ms).toISOString(), counted),
    ),
  }
}

interface Counted {
  attempt: Attempt
  end: 'succeeded' | 'failed' | 'dead'
}

function endOf({ outcome, number }: Attempt, { status, attempts }: Delivery): Counted['end'] {
  if (outcome === 'succeeded') return 'succeeded'
  return status === 'dead' && number === attempts.length ? 'dead' : 'failed'
}

function bucketOf(at: string, counted: readonly Counted[]): ActivityBucket {
  const count = (wanted: Counted['end']) => counted.filter(({ end }) => end === wanted).length
  return {
    at,
    succeeded: count('succeeded'),
    failed: count('failed'),
    dead: count('dead'),
    ...latencyOf(counted.map(({ attempt }) => attempt)),
  }
}

function latencyOf(attempts: readonly Attempt[]): Pick<Activity, 'median_ms' | 'p95_ms'> {
  const times = attempts
    .filter(({ response_status }) => response_status !== null)
    .map(({ duration_ms }) => duration_ms)
    .sort((one, other) => one - other)
  return { median_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) }
}

/** Returns the quantile of sorted values; `null` without any. */
function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}
