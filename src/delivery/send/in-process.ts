import { ConnectTimeout } from './connector.ts'
import { setDeadline } from './deadline.ts'
import type { HttpResponse, ExchangeSettings } from './http-exchange.ts'
import { startOfBody } from './response-body.ts'
import { normalUrl } from '../destination/url.ts'

/** The receiver in this process did not answer, where another would have broken the connection. */
export class ReceiverThrew extends Error {
  readonly code = 'TABWIRE_RECEIVER_THREW'
}

interface InProcessMessage {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/**
 * Hands a request over to a receiver in this process and resolves with its answer, by the same limits as over the network;
 * rejects when none comes in time, or with the reason of `signal`.
 */
export async function receiveInProcess(
  receive: Receive,
  { url, headers, body }: InProcessMessage,
  { timeoutMs, bodyTimeoutMs, measure, onHeaders }: ExchangeSettings,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  let cancel = setDeadline(() => controller.abort(new ConnectTimeout('no answer in time')), timeoutMs)
  let onBodyRead: (() => void) | undefined
  const ended = new Promise<never>((_resolve, reject) =>
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), {
      once: true,
    }),
  )
  // Whoever races against it hears of it; when nobody does, it is no bug.
  ended.catch(() => undefined)
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
    cancel = setDeadline(() => controller.abort(new Error('The body goes on')), bodyTimeoutMs)
    onBodyRead = onHeaders(() => controller.abort(new Error('Others begin')))
    const location = response.headers.get('location') ?? undefined
    const read = startOfBody()
    await Promise.race([readStart(response, read), ended]).catch(() => undefined)
    return { status: response.status, location, body: read.text(), respondedAt }
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
    throw new ReceiverThrew(message, { cause })
  }
  throw new ReceiverThrew('it answered with a network error')
}

async function readStart(response: Response, read: ReturnType<typeof startOfBody>): Promise<void> {
  for await (const chunk of response.body ?? []) if (read.add(Buffer.from(chunk as Uint8Array))) return
}

/** Takes a delivery in this process, as a server's handler would: a web framework's `fetch` is one. */
export type Receive = (request: Request) => Response | Promise<Response>

/** Which URLs are received in this process, so that nothing goes over the network and no name is resolved. */
export interface InProcessReceivers {
  /** Has deliveries to this URL, and to all beneath it, handed over. The result takes that back. @throws TypeError. */
  add(url: string, receive: Receive): () => void
  /** The one that was added last, of those that a URL is for. */
  find(url: string): Receive | undefined
}

export function createInProcessReceivers(): InProcessReceivers {
  const added = new Set<{ base: string; receive: Receive }>()
  return {
    add(url, receive) {
      if (!URL.canParse(url))
        throw new TypeError(
          `Deliveries are received at an absolute URL such as https://shop.example/webhooks, not at ${JSON.stringify(url)}.`,
        )
      const receiver = { base: normalUrl(url).replace(/\/$/, ''), receive }
      added.add(receiver)
      return () => void added.delete(receiver)
    },
    find(url) {
      if (added.size === 0 || !URL.canParse(url)) return undefined
      const target = normalUrl(url)
      return [...added].findLast(({ base }) => target === base || /^[/?]/.test(suffixOf(base, target)))
        ?.receive
    },
  }
}

/** What a URL has beyond another that it begins with. */
function suffixOf(base: string, target: string): string {
  return target.startsWith(base) ? target.slice(base.length) : ''
}
