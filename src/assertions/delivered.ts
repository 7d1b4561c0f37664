import { ignoreNotFound, TimedOut } from '../client/errors.ts'
import { externalIdOf, idOf, type CheckOrId, type RecordOrId } from '../client/transport.ts'
import { callUntil, type CallOptions } from '../client/limit.ts'
import type { ClientReads } from '../client/reads.ts'
import type { Delivery } from '../model/delivery.ts'
import { eventTypesAndPing, type EventType } from '../model/event.ts'
import {
  requireKnownOptions,
  requireOneOf,
  requireSetting,
  wholeNumber,
} from '../model/simulator/settings.ts'
import { explainMissing, inWords, judge, MOST_SHOWN, type Unmet, type Wanted } from './delivered-verdict.ts'
import { untilDeadline, lookUntil, concerned, deliveriesAbout, waitForDeliveries } from './wait.ts'
import type { EventView, StreamMessage } from '../client/types.ts'
import type { EventData } from '../model/event-view.ts'

/** Selects deliveries. */
export interface DeliveryFilter {
  /**
   * Event type.
   * @default undefined, any but `ping`
   */
  type?: EventType | 'ping' | undefined
  /** Only deliveries about this check, or the check with this external id. */
  check?: CheckOrId | undefined
  /** Only deliveries to this webhook endpoint, or to the one with this id. */
  endpoint?: RecordOrId | undefined
  /**
   * Status that the deliveries must have.
   * @default 'delivered'
   */
  status?: Delivery['status'] | undefined
}

/** Deliveries to wait for, and the time limit. */
export interface DeliveriesWanted extends DeliveryFilter, CallOptions {
  /**
   * How many deliveries, at least: 1 or more.
   * @default 1
   */
  count?: number | undefined
  /**
   * Milliseconds of real time; 0 looks only at what is there.
   * @default 4000, less than the 5 s that most runners give a test
   */
  timeout?: number | undefined
}

/** Deliveries that must not come, and the time limit for those in flight. */
export interface DeliveriesUnwanted extends DeliveryFilter, CallOptions {
  /**
   * Milliseconds of real time that attempts in flight may take.
   * @default 4000
   */
  timeout?: number | undefined
}

export type SomeDeliveries = [Delivery, ...Delivery[]]

/** Default of `timeout`, in milliseconds. */
export const TIMEOUT_MS = 4_000

const statuses: readonly Delivery['status'][] = ['pending', 'delivered', 'dead']
const filterNames = ['type', 'check', 'endpoint', 'status', 'signal', 'timeout']

/**
 * Thrown when the expected deliveries have not come, or unwanted ones have. The message says what came instead;
 * `cause` is the error of a handler of `receive`.
 */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered'
  readonly code: Unmet['code']
  /** Deliveries of the type, check and endpoint that were meant, in any status. */
  readonly seen: readonly Delivery[]

  constructor({ code, message, seen }: Pick<Unmet, 'code' | 'message' | 'seen'>, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.seen = seen
  }
}

/** @throws NotDelivered, TypeError for wrong options, or the reason of `signal`. */
export async function waitForDelivered(
  client: ClientReads,
  given: DeliveriesWanted = {},
  thrownBy: (delivery: Delivery) => unknown = () => undefined,
): Promise<SomeDeliveries> {
  requireKnownOptions(given, [...filterNames, 'count'])
  const { timeout = TIMEOUT_MS, signal, ...asked } = given
  const wanted = wantedOf(asked)
  requireSetting('count', wholeNumber({ min: 1 }), wanted.count)
  const verdict = await untilDeadline({ timeout, signal }, (deadline) =>
    waitForDeliveries(client, wanted, deadline),
  )
  // `count` is at least 1.
  if (verdict.ok) return verdict.deliveries.toSorted(byAge) as SomeDeliveries
  const more = await explainMissing(client, wanted)
  const message = [`${verdict.message} Waited ${timeout / 1_000} s.`, ...more].join('\n')
  const cause = verdict.seen.map(thrownBy).find((error) => error !== undefined)
  throw new NotDelivered({ ...verdict, message }, cause === undefined ? {} : { cause })
}

/**
 * Resolves once it is certain that no such delivery is there or on its way. No time has to pass for it, except that attempts
 * in flight are waited for.
 * @throws NotDelivered, TimedOut when an attempt in flight takes longer than `timeout`, or TypeError for wrong options.
 */
export async function noneDelivered(client: ClientReads, given: DeliveriesUnwanted = {}): Promise<void> {
  requireKnownOptions(given, filterNames)
  const { timeout = TIMEOUT_MS, signal, ...asked } = given
  const wanted = { ...wantedOf(asked), none: true }
  const left = await untilNoneDue(client, wanted, { timeout, signal }, (about) => {
    const verdict = judge(new Map(about.map((delivery) => [delivery.id, delivery])), wanted)
    if (!verdict.ok) throw new NotDelivered(verdict)
  })
  if (left.length === 0) return
  const ids = left.map(({ id }) => id).join(', ')
  throw new TimedOut(`Expected ${inWords(wanted)}. Still in flight after ${timeout / 1_000} s: ${ids}.`)
}

/**
 * Waits until no wanted delivery is due or in flight. Resolves with those that still are after `timeout`. Calls `onLook` with
 * all of them, in any status, at each look; what it throws ends the wait.
 */
export async function untilNoneDue(
  client: ClientReads,
  wanted: Wanted,
  limits: CallOptions & { timeout: number },
  onLook: (about: readonly Delivery[]) => void = () => {},
): Promise<readonly Delivery[]> {
  let left: readonly Delivery[] = []
  await untilDeadline(limits, (deadline) => {
    const look = async () => {
      const about = await deliveriesAbout(client, wanted, deadline)
      onLook(about)
      left = await onTheirWay(client, about, deadline)
      return left.length === 0 ? left : undefined
    }
    const concerns = async (message: StreamMessage) =>
      (await concerned(client, wanted, message, deadline)).length > 0
    return lookUntil(client, deadline, look, concerns)
  })
  return left
}

/** Returns the deliveries whose next attempt is due or in flight by the service clock. */
async function onTheirWay(
  { clock }: ClientReads,
  deliveries: readonly Delivery[],
  deadline: AbortSignal,
): Promise<Delivery[]> {
  const pending = deliveries.filter(({ status, held }) => status === 'pending' && held === undefined)
  if (pending.length === 0) return []
  // A clock of the program's own is not shown.
  const now = await callUntil((options) => clock.show(options), deadline).catch(ignoreNotFound)
  return pending.filter(({ next_attempt_at: at, attempts }) =>
    now === undefined ? attempts.length === 0 : at !== null && at <= now.now,
  )
}

/**
 * Converts the options of a wait to the terms of the API, with defaults.
 * @throws TypeError for a type or status that does not exist.
 */
export function wantedOf({
  type,
  check,
  endpoint,
  status = 'delivered',
  count = 1,
}: DeliveriesWanted): Wanted {
  if (type !== undefined) requireOneOf('event type', type, eventTypesAndPing)
  requireOneOf('status', status, statuses)
  return {
    type,
    check: check === undefined ? undefined : externalIdOf(check),
    endpoint: endpoint === undefined ? undefined : idOf(endpoint),
    status,
    count,
    exactly: false,
    none: false,
  }
}

export function byAge(one: Delivery, other: Delivery): number {
  return one.id < other.id ? -1 : 1
}

/** Selects the event to wait for, beside its type, and the time limit. */
export interface EventWanted extends CallOptions {
  /** Only an event about this check, or the check with this external id. */
  check?: CheckOrId | undefined
  /**
   * Milliseconds of real time; 0 looks only at what is there.
   * @default 4000
   */
  timeout?: number | undefined
}

/** Thrown when the expected event has not happened. The message says what happened instead. */
export class NotHappened extends Error {
  override readonly name = 'NotHappened'
  readonly code = 'never_happened'
  /** The latest events of any type, oldest first. */
  readonly seen: readonly EventView[]

  constructor(message: string, seen: readonly EventView[]) {
    super(message)
    this.seen = seen
  }
}

/** @throws NotHappened, TypeError for a type that does not exist or wrong options, or the reason of `signal`. */
export async function waitForEvent<Type extends keyof EventData>(
  client: Pick<ClientReads, 'events' | 'stream'>,
  type: Type,
  given: EventWanted = {},
): Promise<EventView<Type>> {
  requireOneOf('event type', type, eventTypesAndPing)
  requireKnownOptions(given, ['check', 'timeout', 'signal'])
  const { timeout = TIMEOUT_MS, signal, ...asked } = given
  const check = asked.check === undefined ? undefined : externalIdOf(asked.check)
  const query = { type, external_check_id: check, order: 'asc', limit: 1 } as const
  const found = await untilDeadline({ timeout, signal }, (deadline) => {
    const oldest = async () => {
      const { data } = await callUntil((options) => client.events.list(query, options), deadline)
      return data[0] as EventView<Type> | undefined
    }
    return lookUntil(
      client,
      deadline,
      oldest,
      (message) => message.type === 'event' && message.data.type === type,
    )
  })
  if (found !== undefined) return found
  const { data } = await callUntil((options) => client.events.list({ limit: MOST_SHOWN }, options))
  const about = check === undefined ? '' : ` for check ${check}`
  throw new NotHappened(
    [`Expected ${type}${about}; none occurred. Waited ${timeout / 1_000} s.`, ...describeMissing(data)].join(
      '\n',
    ),
    data.toReversed(),
  )
}

function describeMissing(newestFirst: readonly EventView[]): string[] {
  if (newestFirst.length === 0) return ['No event has occurred.']
  const lines = newestFirst.map(({ type, external_check_id: check }) =>
    check === null ? `  ${type}` : `  ${type} for check ${check}`,
  )
  return ['The latest events:', ...lines.toReversed()]
}
