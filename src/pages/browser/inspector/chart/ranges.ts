import type { Activity } from '../../../../model/simulator/activity.ts'
import { elapsedText } from '../clock.tsx'
import type { BucketRange } from './plots.ts'

/** Returns the times of a range of buckets as filters: `from` is included, `to` is not. */
export function timesOf(activity: Activity, { first, last }: BucketRange): { from: string; to: string } {
  const { buckets, bucket_ms } = activity
  const end = Date.parse(buckets[last]?.at ?? '') + bucket_ms
  return { from: buckets[first]?.at ?? '', to: new Date(end).toISOString() }
}

/** Returns the times, the counts and the latencies of a range of buckets, one per line. */
export function rangeText(activity: Activity, range: BucketRange): string {
  const { first, last } = range
  if (activity.buckets[last] === undefined) return ''
  const { from, to } = timesOf(activity, range)
  const within = activity.buckets.slice(first, last + 1)
  const sum = (name: 'succeeded' | 'failed' | 'dead') =>
    within.reduce((total, bucket) => total + bucket[name], 0).toLocaleString('en')
  const isSameDay = from.slice(0, 10) === to.slice(0, 10)
  const lines = [
    `${dayAndTime(from)} to ${isSameDay ? to.slice(11, 19) : dayAndTime(to)} UTC`,
    `${sum('succeeded')} succeeded, ${sum('failed')} failed, ${sum('dead')} dead`,
  ]
  const [{ median_ms, p95_ms } = { median_ms: null, p95_ms: null }] = within
  if (first === last && median_ms !== null && p95_ms !== null)
    lines.push(`median ${elapsedText(median_ms)}, p95 ${elapsedText(p95_ms)}`)
  return lines.join('\n')
}

function dayAndTime(iso: string): string {
  return `${iso.slice(5, 10)} ${iso.slice(11, 19)}`
}
