import type { Attempt, Delivery } from '../../../../model/delivery.ts'
import type { StoredEvent } from '../../../../model/event.ts'
import type { LoggedRequest } from '../../../../model/simulator/request-entry.ts'

/** A point on a check's timeline: a push, an event, an attempt or the next attempt. */
export type Point = { at: string; key: string } & (
  | { kind: 'push'; request: LoggedRequest }
  | { kind: 'event'; event: Pick<StoredEvent, 'id' | 'type'> }
  | { kind: 'attempt'; delivery: Delivery; attempt: Attempt }
  | { kind: 'next'; delivery: Delivery }
)

interface CheckRecords {
  requests: readonly LoggedRequest[]
  events: readonly Pick<StoredEvent, 'id' | 'type' | 'created_at'>[]
  deliveries: readonly Delivery[]
}

/** At equal times, causes sort before effects. */
const ranks = { push: 0, event: 1, attempt: 2, next: 3 } satisfies Record<Point['kind'], number>

/** Returns a check's timeline, oldest first. */
export function timelineOf({ requests, events, deliveries }: CheckRecords): Point[] {
  const points: Point[] = [
    ...requests.map((request): Point => ({ kind: 'push', at: request.started_at, key: request.id, request })),
    ...events.map((event): Point => ({ kind: 'event', at: event.created_at, key: event.id, event })),
    ...deliveries.flatMap(pointsOf),
  ]
  return points.sort(
    (one, other) =>
      compare(one.at, other.at) || ranks[one.kind] - ranks[other.kind] || compare(one.key, other.key),
  )
}

function pointsOf(delivery: Delivery): Point[] {
  const { id, attempts, next_attempt_at } = delivery
  const made = attempts.map((attempt): Point => {
    return { kind: 'attempt', at: attempt.started_at, key: `${id} ${attempt.number}`, delivery, attempt }
  })
  if (next_attempt_at === null) return made
  return [...made, { kind: 'next', at: next_attempt_at, key: `${id} next`, delivery }]
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
