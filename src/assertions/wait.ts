import { ApiError, Unreachable } from '../client/errors.ts'
import type { StreamMessage } from '../client/types.ts'
import type { ClientReads } from '../client/reads.ts'
import type { Delivery } from '../model/delivery.ts'
import { paginate } from '../client/reads.ts'
import { isDecided, judge, type Verdict, type Wanted } from './delivered-verdict.ts'
import { openLastingStream } from './watch.ts'

type Reader = Pick<ClientReads, 'stream' | 'deliveries'>

/**
 * Waits until the outcome for the wanted deliveries is certain, or `deadline` aborts; an aborted deadline means to
 * check once. The stream opens before the list is read, so that no message is missed between them. Calls `onWaiting`
 * when the first check does not decide.
 * @throws Unreachable when the service ends meanwhile, and ApiError.
 */
export async function waitForDeliveries(
  client: Reader,
  wanted: Wanted,
  deadline: AbortSignal,
  onWaiting: () => void = () => {},
): Promise<Verdict> {
  const seen = new Map<string, Delivery>()
  const look = async () => {
    seen.clear()
    note(seen, await deliveriesAbout(client, wanted), wanted)
  }
  const done = new AbortController()
  try {
    const stream = await listen(client, AbortSignal.any([deadline, done.signal]), deadline)
    await look()
    if (stream === undefined) return judge(seen, wanted)
    if (!isDecided(seen, wanted)) {
      onWaiting()
      for await (const message of stream) {
        if (message.type === 'reset' || message.type === 'dropped') await look()
        else note(seen, await concerned(client, wanted, message), wanted)
        if (isDecided(seen, wanted)) break
      }
    }
    if (isDecided(seen, wanted)) return judge(seen, wanted)
    if (!deadline.aborted) throw new Unreachable('The service stopped during the wait for deliveries.')
    await look()
    return judge(seen, wanted)
  } finally {
    done.abort()
  }
}

/** Resolves once nothing that happens is missed; with `undefined` when the deadline has passed by then. */
async function listen(client: Reader, signal: AbortSignal, deadline: AbortSignal) {
  if (deadline.aborted) return undefined
  try {
    return await openLastingStream(client, signal)
  } catch (error) {
    if (deadline.aborted) return undefined
    throw error
  }
}

/** Returns all deliveries of the wanted type, check and endpoint, in any status. */
export async function deliveriesAbout(
  client: Pick<ClientReads, 'deliveries'>,
  wanted: Wanted,
): Promise<Delivery[]> {
  const found: Delivery[] = []
  for await (const delivery of paginate(client.deliveries.list, subject(wanted)))
    if (isAbout(delivery, wanted)) found.push(delivery)
  return found
}

/** Returns the current deliveries that a message concerns. */
export async function concerned(client: Reader, wanted: Wanted, message: StreamMessage): Promise<Delivery[]> {
  if (message.type === 'attempt' && isAbout(message.data, wanted)) {
    const delivery = await client.deliveries.get(message.data.id).catch(ignoreGone)
    return delivery === undefined ? [] : [delivery]
  }
  if (message.type === 'delivery') return isAbout(message.data, wanted) ? [message.data] : []
  // A new delivery has no message but its event; only a wait for pending deliveries needs it before its attempt.
  if (message.type !== 'event' || wanted.status !== 'pending') return []
  const { data } = await client.deliveries.list({ event_id: message.data.id, limit: 100 })
  return data
}

function ignoreGone(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error
}

function note(seen: Map<string, Delivery>, deliveries: readonly Delivery[], wanted: Wanted): void {
  for (const delivery of deliveries) if (isAbout(delivery, wanted)) seen.set(delivery.id, delivery)
}

function subject({ type, check, endpoint }: Wanted) {
  return { type, external_check_id: check, endpoint_id: endpoint }
}

type Subject = Pick<Delivery, 'event_type' | 'external_check_id' | 'endpoint_id'>

function isAbout(delivery: Subject, { type, check, endpoint }: Wanted): boolean {
  if (type === undefined ? delivery.event_type === 'ping' : delivery.event_type !== type) return false
  if (check !== undefined && delivery.external_check_id !== check) return false
  return endpoint === undefined || delivery.endpoint_id === endpoint
}
