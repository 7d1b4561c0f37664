import type { Delivery } from '../model/delivery.ts'

type Waiting = Pick<Delivery, 'endpoint_id'>

interface Situation {
  /** How many attempts may be started now. */
  room: number
  /** At most this many in flight to one endpoint. */
  perEndpoint: number
  inFlight: (endpointId: string) => number
  /** Leaves out of what is in its turn what some endpoints may not have now. */
  withinShare: <D extends Waiting>(inTurn: readonly D[]) => readonly D[]
}

/** Chooses what to attempt next: round by round one delivery of each endpoint, the one that has waited longest first. */
export function createTurns() {
  const lastTurns = new Map<string, number>()
  let turn = 0
  const lastTurn = (id: string) => lastTurns.get(id) ?? 0
  return {
    take<D extends Waiting>(
      due: readonly D[],
      { room, perEndpoint, inFlight, withinShare }: Situation,
    ): readonly D[] {
      const queues = [...groupByEndpoint(due)]
        .sort(([one], [other]) => lastTurn(one) - lastTurn(other))
        .map(([id, queue]) => queue.slice(0, Math.max(0, perEndpoint - inFlight(id))))
      const chosen = withinShare(roundRobin(queues)).slice(0, Math.max(0, room))
      for (const { endpoint_id } of chosen) lastTurns.set(endpoint_id, ++turn)
      return chosen
    },
  }
}

function groupByEndpoint<D extends Waiting>(due: readonly D[]): Map<string, D[]> {
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
