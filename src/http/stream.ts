import { setImmediate } from 'node:timers/promises'
import type { Service } from '../service.ts'
import type { Answer } from './refusals.ts'
import type { RequestLog } from './request-log.ts'
import { readHistory } from './stream-history.ts'
import { messagesOf, requestMessage, type Message } from './stream-message.ts'
import { createReader, type StreamReader } from './stream-reader.ts'

/**
 * The live view of the service: server-sent events `request`, `event` and `attempt`, as they happen (contract section 10),
 * `delivery` for one that is dead without another attempt, and `reset` when all that was told before is void, since another
 * state has taken its place.
 */
export interface Stream {
  /**
   * From now on. With `since`, an ISO 8601 time in UTC, what is stored of attempts and requests that began then or later
   * comes first, oldest first, then `live`, then what has happened since: nothing is left out and nothing comes twice.
   * @throws Refusal `storage_unavailable`.
   */
  open(since?: string): Promise<Answer>
  /** Ends all open streams, so that a stopping server need not wait for them. */
  close(): void
}

/** Often enough that no proxy takes the stream for dead. */
export const HEARTBEAT_MS = 15_000

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

export function createStream(
  service: Pick<Service, 'onCommit' | 'list' | 'get'>,
  log: Pick<RequestLog, 'onAdd' | 'list' | 'get'>,
): Stream {
  const readers = new Set<StreamReader>()
  let count = 0
  const publish = ({ type, key, text }: Message) => {
    count++
    const told = `id: ${count}\nevent: ${type}\ndata: ${text()}\n\n`
    for (const reader of readers) reader.tell(key, told)
  }
  // Most of the time nobody listens, and then nothing is put into words.
  log.onAdd((read) => {
    if (readers.size === 0) return
    const request = read()
    publish(requestMessage(request.id, () => request))
  })
  service.onCommit((writes, kind) => {
    if (kind === 'replacement') publish({ type: 'reset', key: 'reset', text: () => '{}' })
    else if (readers.size > 0) for (const message of writes.flatMap(messagesOf)) publish(message)
  })
  const heartbeat = setInterval(() => {
    for (const reader of readers) reader.tell('', ': still here\n\n')
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    async open(since) {
      const reader = createReader(': listening\n\n', since !== undefined, () => readers.delete(reader))
      readers.add(reader)
      if (since !== undefined)
        try {
          const history = await readHistory({ service, log }, since)
          // What was committed before it was read has been told by then.
          await setImmediate()
          reader.begin(history)
        } catch (error) {
          reader.close()
          throw error
        }
      return { status: 200, headers: streamHeaders, body: reader.body }
    },
    close() {
      clearInterval(heartbeat)
      for (const reader of readers) reader.close()
    },
  }
}
