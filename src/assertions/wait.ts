import { ApiError, ignoreNotFound, TimedOut, Unreachable } from '../client/errors.ts'
import type { DeliveriesQuery, StreamMessage } from '../client/types.ts'
import { type ClientReads, paginate } from '../client/reads.ts'
import type { Delivery } from '../model/delivery.ts'
import { isDecided, judge, type DeliveredVerdict, type Wanted } from './delivered-verdict.ts'
import { callUntil, delayOf, requireSignal, type CallOptions } from '../client/limit.ts'
import { openStream } from '../client/stream.ts'
import { timers } from '../timers.ts'

type Reader = Pick<ClientReads, 'stream' | 'deliveries'>

/**
 * Waits until the outcome for the wanted deliveries is certain, or `deadline` aborts; an aborted deadline means to
 * check once. The stream opens before the list is read, so that no message is missed between them. Calls `onWaiting`
 * when the first check does not decide.
 * @throws Unreachable when the service ends meanwhile, TimedOut when it does not respond, and ApiError.
 */
export async function waitForDeliveries(
  client: Reader,
  wanted: Wanted,
  deadline: AbortSignal,
  onWaiting: () => void = () => {},
): Promise<DeliveredVerdict> {
  const seen = new Map<string, Delivery>()
  const look = async () => {
    seen.clear()
    note(seen, await deliveriesAbout(client, wanted, deadline), wanted)
  }
  const done = new AbortController()
  try {
    const stream = await opened(client, deadline, done.signal)
    await look()
    if (stream === undefined) return judge(seen, wanted)
    if (!isDecided(seen, wanted)) {
      onWaiting()
      for await (const message of stream) {
        if (message.type === 'reset' || message.type === 'dropped') await look()
        else note(seen, await concerned(client, wanted, message, deadline), wanted)
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

/** Returns all deliveries of the wanted type, check and endpoint, in any status. */
export async function deliveriesAbout(
  client: Pick<ClientReads, 'deliveries'>,
  wanted: Wanted,
  deadline?: AbortSignal,
): Promise<Delivery[]> {
  const found: Delivery[] = []
  const list = (query?: DeliveriesQuery) =>
    callUntil((options) => client.deliveries.list(query, options), deadline)
  for await (const delivery of paginate(list, subject(wanted)))
    if (isAbout(delivery, wanted)) found.push(delivery)
  return found
}

/** Returns the current deliveries that a message concerns. */
export async function concerned(
  client: Reader,
  wanted: Wanted,
  message: StreamMessage,
  deadline?: AbortSignal,
): Promise<Delivery[]> {
  if (message.type === 'attempt' && isAbout(message.data, wanted)) {
    const { id } = message.data
    const call = (options: CallOptions) => client.deliveries.get(id, options)
    const delivery = await callUntil(call, deadline).catch(ignoreNotFound)
    return delivery === undefined ? [] : [delivery]
  }
  if (message.type === 'delivery') return isAbout(message.data, wanted) ? [message.data] : []
  // A new delivery has no message but its event; only a wait for pending deliveries needs it before its attempt.
  if (message.type !== 'event' || wanted.status !== 'pending') return []
  const query = { event_id: message.data.id, limit: 100 }
  const { data } = await callUntil((options) => client.deliveries.list(query, options), deadline)
  return data
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

/**
 * Calls `look` at once, and after each relevant message of the stream, until it finds something or `deadline` aborts.
 * Resolves with the last result.
 * @throws Unreachable when the service ends meanwhile, TimedOut when it does not respond, and errors of `look`.
 */
export async function lookUntil<T>(
  client: Pick<ClientReads, 'stream'>,
  deadline: AbortSignal,
  look: () => Promise<T | undefined>,
  concerns: (message: StreamMessage) => boolean | Promise<boolean>,
): Promise<T | undefined> {
  const done = new AbortController()
  try {
    const stream = await opened(client, deadline, done.signal)
    // The stream opens before the first look, so that no message is missed between them.
    let found = await look()
    if (found !== undefined || stream === undefined) return found
    for await (const message of stream) {
      if (message.type !== 'reset' && message.type !== 'dropped' && !(await concerns(message))) continue
      found = await look()
      if (found !== undefined) return found
    }
    if (!deadline.aborted) throw new Unreachable('The service stopped during a wait.')
    return await look()
  } finally {
    done.abort()
  }
}

/** Milliseconds. When the time of a wait is over, a service that was silent for this long is not asked again. */
const SILENT_MS = 500

/**
 * Opens the live stream until `deadline` or `done` aborts; `undefined` when the deadline has passed before it is open.
 * @throws TimedOut when the service has not responded by then.
 */
async function opened(client: Pick<ClientReads, 'stream'>, deadline: AbortSignal, done: AbortSignal) {
  if (deadline.aborted) return undefined
  let isSilent = false
  const timer = timers.setTimeout(() => (isSilent = true), SILENT_MS)
  try {
    return await openLastingStream(client, AbortSignal.any([deadline, done]))
  } catch (error) {
    if (!deadline.aborted) throw error
    if (!isSilent) return undefined
    throw new TimedOut('The service did not respond during the wait.', { cause: error })
  } finally {
    timers.clearTimeout(timer)
  }
}

/**
 * Runs `work` with a signal that aborts after `timeout` milliseconds of real time, or with the caller's signal.
 * @throws the reason of the caller's signal once that has aborted, or TypeError for a wrong `timeout` or `signal`.
 */
export async function untilDeadline<T>(
  { timeout, signal }: CallOptions & { timeout: number },
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  requireSignal(signal)
  signal?.throwIfAborted()
  const delay = delayOf(timeout)
  const limit = new AbortController()
  // Unlike the timer of AbortSignal.timeout, this one keeps the process alive while it runs.
  const timer = timers.setTimeout(() => limit.abort(), delay)
  if (delay === 0) limit.abort()
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', abort, { once: true })
  })
  const deadline = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal])
  try {
    return await Promise.race([work(deadline), aborted])
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    timers.clearTimeout(timer)
  }
}

/** Attempts to open a lost stream again, and the milliseconds before each. */
const AGAIN = { attempts: 3, pauseMs: 100 }

/**
 * Opens the live stream. When the connection is lost and the service still answers, for example another instance behind a
 * proxy, continues there; then `dropped` says that messages may be missing. Ends when the service does not answer.
 * @throws Unreachable or ApiError when the stream cannot be opened at first, or the signal's reason.
 */
async function openLastingStream(
  client: Pick<ClientReads, 'stream'>,
  signal: AbortSignal,
): Promise<AsyncGenerator<StreamMessage>> {
  return lasting(client, signal, await openStream(client, signal))
}

async function* lasting(
  client: Pick<ClientReads, 'stream'>,
  signal: AbortSignal,
  first: AsyncGenerator<StreamMessage>,
): AsyncGenerator<StreamMessage> {
  let stream: AsyncGenerator<StreamMessage> | undefined = first
  while (stream !== undefined) {
    try {
      yield* stream
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
    }
    if (signal.aborted) return
    stream = await reopened(client, signal)
    if (stream !== undefined) yield { type: 'dropped', data: { count: 1 } }
  }
}

async function reopened(client: Pick<ClientReads, 'stream'>, signal: AbortSignal) {
  for (let attempt = 1; attempt <= AGAIN.attempts && !signal.aborted; attempt += 1)
    try {
      await timers.sleep(AGAIN.pauseMs)
      return await openStream(client, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(error instanceof Unreachable) && !(error instanceof ApiError)) throw error
    }
  return undefined
}
