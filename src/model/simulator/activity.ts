import type { Attempt, Delivery, AttemptOutcome } from '../delivery.ts'

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

interface ActivityBucket {
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

/** Widths of a bucket: from a second to a week, in common steps. Wider ones are whole weeks. */
const widthsMs = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800,
].map((seconds) => seconds * 1_000)

const WEEK_MS = 604_800_000

/** Limits the counted attempts to those that started from `from` on and before `to`, ISO 8601 times. */
interface ActivityRange {
  from?: string | undefined
  to?: string | undefined
}

/** Results of attempts. The typed array `endings` holds their indexes. */
const ends = ['succeeded', 'failed', 'dead'] as const

/**
 * Counts attempts in buckets of equal width. Callers add any number of deliveries, page by page. The numbers are in typed
 * arrays: the result of 100,000 attempts then blocks the service for 20 ms, with objects for 80 ms.
 */
export function createActivityCounter({ from = '', to = '~' }: ActivityRange = {}) {
  /** Of each attempt: milliseconds since 1970, its end, and its duration; NaN without a response. */
  const times = numbers()
  const endings = numbers()
  const durations = numbers()
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
          times.add(time)
          endings.add(ends.indexOf(endOf(attempt, delivery)))
          durations.add(attempt.response_status === null ? Number.NaN : attempt.duration_ms)
        }
    },
    result(): Activity {
      const bucket_ms = widthFor(last - first)
      const start = Math.floor(first / bucket_ms) * bucket_ms
      const started = times.all()
      const length = started.length === 0 ? 0 : Math.floor((last - start) / bucket_ms) + 1
      const ended = endings.all()
      const took = durations.all()
      const buckets = Array.from({ length }, () => ({ sums: [0, 0, 0], took: numbers() }))
      for (let index = 0; index < started.length; index++) {
        const bucket = buckets[Math.floor(((started[index] ?? 0) - start) / bucket_ms)]
        const end = ended[index] ?? 0
        if (bucket === undefined) continue
        bucket.sums[end] = (bucket.sums[end] ?? 0) + 1
        bucket.took.add(took[index] ?? Number.NaN)
      }
      return {
        deliveries: counted,
        ...latencyOf(took),
        bucket_ms,
        buckets: buckets.map(({ sums: [succeeded = 0, failed = 0, dead = 0], took }, index) => ({
          at: new Date(start + index * bucket_ms).toISOString(),
          succeeded,
          failed,
          dead,
          ...latencyOf(took.all()),
        })),
      }
    },
  }
}

/** Returns the width of at most {@link MOST_BUCKETS} buckets for a time span, both in milliseconds. */
function widthFor(span: number): number {
  const most = MOST_BUCKETS - 1
  return widthsMs.find((width) => span / width < most) ?? WEEK_MS * (Math.floor(span / (WEEK_MS * most)) + 1)
}

/** Numbers in a typed array that grows. */
function numbers() {
  let values = new Float64Array(256)
  let length = 0
  return {
    add(value: number): void {
      if (length === values.length) {
        const grown = new Float64Array(2 * length)
        grown.set(values)
        values = grown
      }
      values[length++] = value
    },
    /** Returns the numbers without a copy. */
    all: () => values.subarray(0, length),
  }
}

function endOf({ outcome, number }: Attempt, { status, attempts }: Delivery): (typeof ends)[number] {
  if (outcome === 'succeeded') return 'succeeded'
  return status === 'dead' && number === attempts.length ? 'dead' : 'failed'
}

/** Sorts durations and returns their quantiles; NaN, an attempt without a response, comes last and does not count. */
function latencyOf(durations: Float64Array): Pick<Activity, 'median_ms' | 'p95_ms'> {
  const sorted = durations.toSorted()
  const answered = sorted.findLastIndex((duration) => !Number.isNaN(duration)) + 1
  const times = sorted.subarray(0, answered)
  return { median_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) }
}

/** Returns the quantile of sorted values; `null` without any. */
function quantile(sorted: Float64Array, part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}

/** Number of deliveries from which the success rate of an endpoint is calculated. */
export const RECENT = 50

/** The outcome of an endpoint's newest deliveries. */
export interface RecentDeliveries {
  /** The newest deliveries with an attempt, at most 50. */
  recent: {
    deliveries: number
    /** Those that were delivered. */
    delivered: number
  }
  /** The newest failed attempt of these deliveries; `null` without one. */
  last_error: {
    delivery_id: string
    at: string
    outcome: AttemptOutcome
    response_status: number | null
    error: string | null
  } | null
}

/** Returns the success rate and the last error of an endpoint's newest deliveries. */
export function healthOf(deliveries: readonly Delivery[]): RecentDeliveries {
  let last: { delivery: Delivery; attempt: Attempt } | undefined
  for (const delivery of deliveries)
    for (const attempt of delivery.attempts)
      if (attempt.outcome !== 'succeeded' && attempt.started_at > (last?.attempt.started_at ?? ''))
        last = { delivery, attempt }
  return {
    recent: {
      deliveries: deliveries.length,
      delivered: deliveries.filter(({ status }) => status === 'delivered').length,
    },
    last_error:
      last === undefined
        ? null
        : {
            delivery_id: last.delivery.id,
            at: last.attempt.started_at,
            outcome: last.attempt.outcome,
            response_status: last.attempt.response_status,
            error: last.attempt.error,
          },
  }
}
