import { Unreachable } from '../client/errors.ts'
import type { StreamMessage } from '../client/types.ts'
import type { ClientReads } from '../client/reads.ts'
import { openLastingStream } from './stream.ts'
import { timers } from '../timers.ts'
import type { CallOptions } from '../client/limit.ts'

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
