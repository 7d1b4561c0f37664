import type { Delivery } from '../model/delivery.ts'

type Queued = Pick<Delivery, 'endpoint_id'>

interface Capacity {
  /** Attempts that may start now. */
  capacity: number
  /** Most attempts in flight to one endpoint. */
  perEndpoint: number
  inFlight: (endpointId: string) => number
  /** Drops deliveries that would exceed the share of slow endpoints. */
  limitSlow: <D extends Queued>(inOrder: readonly D[]) => readonly D[]
}

/** Fair queue: round robin over the endpoints, the endpoint served longest ago first. */
export function createFairQueue() {
  const lastTaken = new Map<string, number>()
  let counter = 0
  const lastTakenOf = (id: string) => lastTaken.get(id) ?? 0
  return {
    take<D extends Queued>(
      due: readonly D[],
      { capacity, perEndpoint, inFlight, limitSlow }: Capacity,
    ): readonly D[] {
      const queues = [...groupByEndpoint(due)]
        .sort(([one], [other]) => lastTakenOf(one) - lastTakenOf(other))
        .map(([id, queue]) => queue.slice(0, Math.max(0, perEndpoint - inFlight(id))))
      const chosen = limitSlow(roundRobin(queues)).slice(0, Math.max(0, capacity))
      for (const { endpoint_id } of chosen) lastTaken.set(endpoint_id, ++counter)
      return chosen
    },
  }
}

function groupByEndpoint<D extends Queued>(due: readonly D[]): Map<string, D[]> {
  const groups = new Map<string, D[]>()
  for (const delivery of due) {
    const group = groups.get(delivery.endpoint_id)
    if (group === undefined) groups.set(delivery.endpoint_id, [delivery])
    else group.push(delivery)
  }
  return groups
}

function roundRobin<D>(queues: readonly (readonly D[])[]): D[] {
  const rounds = Math.max(0, ...queues.map((queue) => queue.length))
  return Array.from({ length: rounds }, (_, round) =>
    queues.flatMap((queue) => queue.slice(round, round + 1)),
  ).flat()
}
