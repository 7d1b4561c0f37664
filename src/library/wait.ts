import { externalIdOf, idOf, type CheckOrId, type RecordOrId } from '../client/given.ts'
import type { Client } from '../client.ts'
import type { Delivery } from '../model/delivery.ts'
import type { EventType } from '../model/event.ts'
import type { Unmet, Wanted } from '../verdicts/judge.ts'
import { waitForDeliveries } from '../verdicts/wait.ts'
import { circumstances } from './circumstances.ts'
import { timers } from '../timers.ts'

/** Which deliveries are waited for. */
export interface DeliveriesWanted {
  /** Any but pings unless it is named. */
  type?: EventType | 'ping'
  check?: CheckOrId
  endpoint?: RecordOrId
  /** `delivered` unless said otherwise. */
  status?: Delivery['status']
  /** How many, at least; 1 unless said otherwise. */
  count?: number
  /** Milliseconds of real time; 4,000 unless said otherwise, less than the 5 s that most runners give a test. */
  timeout?: number
}

export type SomeDeliveries = [Delivery, ...Delivery[]]

const TIMEOUT_MS = 4_000

/** What was waited for has not come: the message tells what came instead, `cause` what a handler of `receive` threw. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered'
  readonly code: Unmet['code']
  /** What came of the type, check and endpoint that were wanted, in any status. */
  readonly seen: readonly Delivery[]

  constructor({ code, message, seen }: Pick<Unmet, 'code' | 'message' | 'seen'>, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.seen = seen
  }
}

export async function waitForDelivered(
  client: Client,
  { timeout = TIMEOUT_MS, ...asked }: DeliveriesWanted = {},
  thrownBy: (delivery: Delivery) => unknown = () => undefined,
): Promise<SomeDeliveries> {
  const wanted = wantedOf(asked)
  const deadline = new AbortController()
  // A timer that counts, unlike that of AbortSignal.timeout: while it runs, the process does not end.
  const timer = timers.setTimeout(() => deadline.abort(), timeout)
  try {
    const verdict = await waitForDeliveries(client, wanted, deadline.signal)
    const [first, ...others] = verdict.ok ? verdict.deliveries.toSorted(byAge) : []
    if (first !== undefined) return [first, ...others]
    if (verdict.ok) throw new RangeError('count must be at least 1.')
    const more = await circumstances(client, wanted)
    const message = [`${verdict.message} Waited ${timeout / 1_000} s.`, ...more].join('\n')
    const cause = verdict.seen.map(thrownBy).find((error) => error !== undefined)
    throw new NotDelivered({ ...verdict, message }, cause === undefined ? {} : { cause })
  } finally {
    timers.clearTimeout(timer)
  }
}

/** Everything that a wait asks for, in the words of the API. */
export function wantedOf({
  type,
  check,
  endpoint,
  status = 'delivered',
  count = 1,
}: DeliveriesWanted): Wanted {
  return {
    type,
    check: check && externalIdOf(check),
    endpoint: endpoint && idOf(endpoint),
    status,
    count,
    exactly: false,
    none: false,
  }
}

function byAge(one: Delivery, other: Delivery): number {
  return one.id < other.id ? -1 : 1
}
