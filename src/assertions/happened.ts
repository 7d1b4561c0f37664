import { externalIdOf, type CheckOrId } from '../client/transport.ts'
import type { CallOptions } from '../client/limit.ts'
import type { EventView } from '../client/types.ts'
import type { ClientReads } from '../client/reads.ts'
import type { EventData } from '../model/event-view.ts'
import { requireKnownOptions, requireOneOf } from '../model/simulator/settings.ts'
import { untilDeadline, watch } from './watch.ts'
import { eventTypesAndPing, TIMEOUT_MS } from './delivered.ts'

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
  /** Returns the latest events of any type, oldest first. */
  readonly seen: readonly EventView[]

  constructor(message: string, seen: readonly EventView[]) {
    super(message)
    this.seen = seen
  }
}

/** Events that an error shows at most. */
const MOST_SHOWN = 10

/** @throws NotHappened, TypeError for a type that does not exist or wrong options, or the reason of `signal`. */
export async function waitForEvent<Type extends keyof EventData>(
  client: Pick<ClientReads, 'events' | 'stream'>,
  type: Type,
  { timeout = TIMEOUT_MS, signal, ...asked }: EventWanted = {},
): Promise<EventView<Type>> {
  requireOneOf('event type', type, eventTypesAndPing)
  requireKnownOptions(asked, ['check', 'timeout', 'signal'])
  const check = asked.check && externalIdOf(asked.check)
  const oldest = async () => {
    const { data } = await client.events.list({ type, external_check_id: check, order: 'asc', limit: 1 })
    return data[0] as EventView<Type> | undefined
  }
  const found = await untilDeadline({ timeout, signal }, (deadline) =>
    watch(client, deadline, oldest, (message) => message.type === 'event' && message.data.type === type),
  )
  if (found !== undefined) return found
  const { data } = await client.events.list({ limit: MOST_SHOWN })
  const about = check === undefined ? '' : ` for check ${check}`
  throw new NotHappened(
    [`Expected ${type}${about}; none occurred. Waited ${timeout / 1_000} s.`, ...told(data)].join('\n'),
    data.toReversed(),
  )
}

function told(newestFirst: readonly EventView[]): string[] {
  if (newestFirst.length === 0) return ['No event has occurred.']
  const lines = newestFirst.map(({ type, external_check_id: check }) =>
    check === null ? `  ${type}` : `  ${type} for check ${check}`,
  )
  return ['The latest events:', ...lines.toReversed()]
}
