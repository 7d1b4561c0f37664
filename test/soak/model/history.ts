/** Expected and actual results of a run. */
export interface History {
  /** Checks with acknowledged pushes, and checks stored at the end. */
  acknowledged: readonly string[]
  stored: readonly string[]
  /** Expected events in order, and the events of the service. */
  expected: readonly { type: string; external_check_id: string }[]
  events: readonly { id: string; type: string; external_check_id: string | null }[]
  /** How many events there were when each endpoint was registered: it is owed those after them. */
  endpoints: readonly number[]
  /** Received deliveries in order: endpoint and bytes. */
  received: readonly { endpoint: number; body: string }[]
  /** The ids of all answers. */
  requestIds: readonly string[]
}

/** Violations of a history; all lists are empty for a correct one. */
export interface Verdict {
  lost: string[]
  unexpected: string[]
  changed: string[]
  repeated: string[]
  /** Differences between expected and actual events. */
  different: string[]
}

/** Judges a whole history, as a set of checks, a queue of events, and identifiers that are unique. */
export function judge(history: History): Verdict {
  const stored = new Set(history.stored)
  const happened = history.events.map(({ type, external_check_id }) => `${type} ${external_check_id}`)
  const expected = history.expected.map(({ type, external_check_id }) => `${type} ${external_check_id}`)
  const length = Math.max(happened.length, expected.length)
  const places = Array.from({ length }, (_, index) => index)
  return {
    lost: [...history.acknowledged.filter((id) => !stored.has(id)), ...undelivered(history)],
    unexpected: unexpected(history),
    changed: changed(history),
    repeated: [...repeated(history.requestIds), ...repeated(history.events.map(({ id }) => id))],
    different: places
      .filter((index) => happened[index] !== expected[index])
      .map((index) => `${index}: ${happened[index] ?? 'nothing'} for ${expected[index] ?? 'nothing'}`),
  }
}

const idOf = (body: string) => (JSON.parse(body) as { id: string }).id

function undelivered({ events, endpoints, received }: History): string[] {
  const came = new Set(received.map(({ endpoint, body }) => `${endpoint} ${idOf(body)}`))
  return endpoints.flatMap((before, endpoint) =>
    events
      .slice(before)
      .map(({ id }) => `${endpoint} ${id}`)
      .filter((owed) => !came.has(owed)),
  )
}

function unexpected({ events, endpoints, received }: History): string[] {
  const places = new Map(events.map(({ id }, index) => [id, index]))
  return received
    .filter(({ endpoint, body }) => {
      const place = places.get(idOf(body))
      return place === undefined || place < (endpoints[endpoint] ?? Infinity)
    })
    .map(({ endpoint, body }) => `${endpoint} ${idOf(body)}`)
}

function changed({ received }: History): string[] {
  const bodies = new Map<string, string>()
  return received.flatMap(({ body }) => {
    const first = bodies.get(idOf(body)) ?? body
    bodies.set(idOf(body), first)
    return first === body ? [] : [idOf(body)]
  })
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.has(id) || !seen.add(id))
}
