import { ApiError, Unreachable } from '../client/errors.ts'
import type { CallOptions } from '../client/limit.ts'
import type { ClientReads } from '../client/reads.ts'
import { openStream } from '../client/stream.ts'
import type { StreamMessage } from '../client/types.ts'
import { timers } from '../timers.ts'

/**
 * Calls `look` at once, and after each relevant message of the stream, until it finds something or `deadline` aborts.
 * Resolves with the last result.
 * @throws Unreachable when the service ends meanwhile, and errors of `look`.
 */
export async function watch<T>(
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

/** `undefined` when the deadline has passed before the stream is open. */
async function opened(client: Pick<ClientReads, 'stream'>, deadline: AbortSignal, done: AbortSignal) {
  if (deadline.aborted) return undefined
  try {
    return await openLastingStream(client, AbortSignal.any([deadline, done]))
  } catch (error) {
    if (deadline.aborted) return undefined
    throw error
  }
}

/**
 * Runs `work` with a signal that aborts after `timeout` milliseconds of real time, or with the caller's signal.
 * @throws the reason of the caller's signal once that has aborted.
 */
export async function untilDeadline<T>(
  { timeout, signal }: CallOptions & { timeout: number },
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  // Unlike the timer of AbortSignal.timeout, this one keeps the process alive while it runs.
  const timer = timers.setTimeout(() => limit.abort(), timeout)
  if (timeout <= 0) limit.abort()
  try {
    const result = await work(signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]))
    signal?.throwIfAborted()
    return result
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
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
export async function openLastingStream(
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
