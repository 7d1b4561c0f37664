import { ApiError, Unreachable } from '../client/errors.ts'
import type { ClientReads } from '../client/reads.ts'
import { openStream } from '../client/stream.ts'
import type { StreamMessage } from '../client/types.ts'
import { timers } from '../timers.ts'

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
