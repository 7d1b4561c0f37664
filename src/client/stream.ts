import { type ApiError, Unreachable } from './errors.ts'
import { apiErrorOf, readBody, type Send } from './transport.ts'
import type { StreamMessage } from './types.ts'
import type { ClientReads, StreamOptions } from './reads.ts'

/**
 * Yields the bytes of an answer as they arrive.
 * @throws ApiError or Unreachable.
 */
export async function readBytes(
  send: Send,
  path: string,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await send('GET', path, undefined, signal)
  if (!response.ok) throw await refusalOf(response, path, signal)
  return unbroken(response, signal)
}

async function refusalOf(response: Response, path: string, signal?: AbortSignal): Promise<ApiError> {
  return apiErrorOf(response, await readBody(response, signal), path)
}

/** Holds the whole response: `fetch` ends an unread body without an error when its response is garbage collected. */
async function* unbroken(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    yield* (response.body as AsyncIterable<Uint8Array> | null) ?? []
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason
    throw new Unreachable('The connection closed before the whole response arrived.', { cause })
  }
}

/**
 * Yields the messages of `GET /_sim/stream` until `signal` aborts or the service ends.
 * @throws ApiError or Unreachable.
 */
export async function* readStream(
  send: Send,
  path: string,
  signal: AbortSignal,
  { lastEventId, onOpen, onId }: Pick<StreamOptions, 'lastEventId' | 'onOpen' | 'onId'>,
): AsyncGenerator<StreamMessage> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const response = await send('GET', path, undefined, signal, headers)
  if (!response.ok) throw await refusalOf(response, path, signal)
  onOpen?.()
  const text = response.body?.pipeThrough(new TextDecoderStream() as never)
  // Loaded late: web streams take longer to load than most commands to run.
  const { EventSourceParserStream } = await import('eventsource-parser/stream')
  const messages = text?.pipeThrough(new EventSourceParserStream())
  for await (const { id, event, data } of untilAborted(messages ?? [], signal)) {
    if (id !== undefined) onId?.(id)
    yield { type: event, data: parsed(data) } as StreamMessage
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new Unreachable('A message of the stream is not JSON, so another server answers. Check the URL.', {
      cause,
    })
  }
}

/** @throws Unreachable when reading fails, unless `signal` has aborted. */
async function* untilAborted<T>(
  parts: AsyncIterable<T> | Iterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  try {
    yield* parts
  } catch (error) {
    if (!signal.aborted) throw new Unreachable('The service closed the stream.', { cause: error })
  }
}

/**
 * Opens the live stream. Once it resolves, no message is missed; with `since` or `lastEventId`, messages from then on come
 * first.
 * @throws Unreachable or ApiError, or the signal's reason.
 */
export async function openStream(
  client: Pick<ClientReads, 'stream'>,
  signal: AbortSignal,
  options: Pick<StreamOptions, 'since' | 'lastEventId' | 'listener' | 'onId'> = {},
): Promise<AsyncGenerator<StreamMessage>> {
  let isOpen = () => {}
  const opened = new Promise<void>((resolve) => (isOpen = resolve))
  const stream = client.stream({ signal, onOpen: () => isOpen(), ...options })
  const first = stream.next()
  await Promise.race([opened, first])
  return resumed(first, stream)
}

async function* resumed(first: Promise<IteratorResult<StreamMessage>>, rest: AsyncGenerator<StreamMessage>) {
  const result = await first
  if (result.done === true) return
  yield result.value
  yield* rest
}
