import { ConnectTimeout } from './connect.ts'
import { setDeadline } from './deadline.ts'
import type { Answered, ExchangeSettings } from './exchange.ts'
import type { Receive } from './receivers.ts'
import { startOfBody } from './response-body.ts'

/** The receiver in this process did not answer, where another would have broken the connection. */
export class ReceiverThrew extends Error {
  readonly code = 'TABWIRE_RECEIVER_THREW'
}

interface Handed {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/**
 * Hands a request over to a receiver in this process and resolves with its answer, by the same limits as over the network;
 * rejects when none comes in time, or with the reason of `signal`.
 */
export async function handOver(
  receive: Receive,
  { url, headers, body }: Handed,
  { timeoutMs, bodyTimeoutMs, measure, onHeaders }: ExchangeSettings,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const given = new AbortController()
  const takeBack = () => given.abort(signal?.reason)
  signal?.addEventListener('abort', takeBack, { once: true })
  let cancel = setDeadline(() => given.abort(new ConnectTimeout('no answer in time')), timeoutMs)
  let onBodyRead: (() => void) | undefined
  const ended = new Promise<never>((_resolve, reject) =>
    given.signal.addEventListener('abort', () => reject(given.signal.reason as Error), { once: true }),
  )
  // Whoever races against it hears of it; when nobody does, it is no bug.
  ended.catch(() => undefined)
  try {
    const request = new Request(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: given.signal,
    })
    const response = await Promise.race([answerOf(receive, request), ended])
    const answeredAt = measure()
    cancel()
    cancel = setDeadline(() => given.abort(new Error('The body goes on')), bodyTimeoutMs)
    onBodyRead = onHeaders(() => given.abort(new Error('Others begin')))
    const location = response.headers.get('location') ?? undefined
    const read = startOfBody()
    await Promise.race([readStart(response, read), ended]).catch(() => undefined)
    return { status: response.status, location, body: read.text(), answeredAt }
  } finally {
    cancel()
    onBodyRead?.()
    signal?.removeEventListener('abort', takeBack)
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
