import { stripVTControlCharacters } from 'node:util'
import {
  AttemptTimeout,
  setDeadline,
  type DeliveryMessage,
  type ReceiverResponse,
  type ExchangeSettings,
  startOfBody,
  startOfHeaders,
} from './http-exchange.ts'
import { MOST_SHOWN } from './failure.ts'
import { onOneLine, shortened } from '../../model/text/advice.ts'
import { baseUrlOf, isAtOrBelow } from '../../model/url.ts'

/** An in-process receiver threw; over the network the connection would have closed. */
export class ReceiverFailed extends Error {
  readonly code = 'TABWIRE_RECEIVER_FAILED'
}

/**
 * Calls an in-process receiver and resolves with its response, under the same limits as over the network. Rejects when none
 * comes in time, or with the reason of `signal`.
 */
export async function receiveInProcess(
  receive: Receive,
  { url, headers, body }: DeliveryMessage,
  { timeoutMs, bodyTimeoutMs, measure, onHeaders }: ExchangeSettings,
  signal: AbortSignal | undefined,
): Promise<ReceiverResponse> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  let cancel = setDeadline(() => controller.abort(new AttemptTimeout('no response in time')), timeoutMs)
  let onBodyRead: (() => void) | undefined
  const ended = new Promise<never>((_resolve, reject) =>
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), {
      once: true,
    }),
  )
  // The races below handle the rejection. An abort outside them must not end the process.
  ended.catch(() => {})
  try {
    const request = new Request(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: controller.signal,
    })
    const response = await Promise.race([answerOf(receive, request), ended])
    const respondedAt = measure()
    cancel()
    cancel = setDeadline(() => controller.abort(new Error('The body did not end in time')), bodyTimeoutMs)
    onBodyRead = onHeaders(() =>
      controller.abort(new Error('Too many bodies of this receiver are being read')),
    )
    const location = response.headers.get('location') ?? undefined
    const read = startOfBody()
    // The status has already decided the attempt, so a body that fails is cut.
    const hasEnded = await Promise.race([readStart(response, read, controller.signal), ended]).then(
      () => true,
      () => false,
    )
    const kept = startOfHeaders([...response.headers].flat())
    return { status: response.status, location, headers: kept, body: read.text(hasEnded), respondedAt }
  } finally {
    cancel()
    onBodyRead?.()
    signal?.removeEventListener('abort', abort)
  }
}

async function answerOf(receive: Receive, request: Request): Promise<Response> {
  try {
    const response = await receive(request)
    if (response.type !== 'error') return response
  } catch (cause) {
    const { message } = cause instanceof Error ? cause : new Error(String(cause))
    // Assertion libraries write differences in several lines, and in colours.
    const plain = onOneLine(stripVTControlCharacters(message))
    throw new ReceiverFailed(`threw an error: ${shortened(plain, MOST_SHOWN)}`, { cause })
  }
  throw new ReceiverFailed('returned Response.error()')
}

/** Reads the start of a body, and cancels the rest. */
async function readStart(
  { body }: { body: Response['body'] | AsyncIterable<Uint8Array> | null },
  read: ReturnType<typeof startOfBody>,
  signal: AbortSignal,
): Promise<void> {
  if (body === null) return
  // The response may be of another library, whose bodies are streams of Node.js.
  const stream = body instanceof ReadableStream ? body : ReadableStream.from(body)
  const reader = (stream as ReadableStream<Uint8Array>).getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || read.add(Buffer.from(value))) return
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Handles a delivery in this process, such as the `fetch` of a web framework. */
export type Receive = (request: Request) => Response | Promise<Response>

/** Receivers in this process by URL. Their deliveries use no network and resolve no name. */
export interface InProcessReceivers {
  /** Adds a receiver for a URL and all URLs below it. The result removes it. @throws TypeError when the URL is not absolute. */
  add(url: string, receive: Receive): () => void
  /** Returns the receiver for a URL, the last one added if several match. */
  find(url: string): Receive | undefined
}

export function createInProcessReceivers(): InProcessReceivers {
  const added = new Set<{ base: string; receive: Receive }>()
  return {
    add(url, receive) {
      const receiver = { base: baseUrlOf(url), receive }
      added.add(receiver)
      return () => void added.delete(receiver)
    },
    find(url) {
      if (added.size === 0 || !URL.canParse(url)) return undefined
      const target = baseUrlOf(url)
      return [...added].findLast(({ base }) => isAtOrBelow(target, base))?.receive
    },
  }
}
