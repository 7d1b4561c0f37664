import type { Dispatcher } from 'undici'
import { ConnectTimeout } from './connector.ts'
import type { Connection, Connections } from './connections.ts'
import { setDeadline } from './deadline.ts'
import { startOfBody } from './response-body.ts'

/** One HTTP request, ready to go. */
export interface HttpRequest {
  /** Scheme, host and port. */
  origin: string
  /** With the query. */
  path: string
  headers: Readonly<Record<string, string>>
  /** Sent as its UTF-8 bytes. */
  body: string
}

/** What came back. */
export interface HttpResponse {
  status: number
  location: string | undefined
  /** The first 4 KiB of the body. */
  body: string
  /** When the headers were there, by `measure`. */
  respondedAt: number
}

export interface ExchangeSettings {
  /** Until the response's headers must be there. */
  timeoutMs: number
  /** Until the part of the body that is kept must be there; then it is cut where it was. */
  bodyTimeoutMs: number
  /** Milliseconds on the clock that measures. */
  measure: () => number
  /** Called when the response's headers are there, with what cuts its body; the result is called when the body is read. */
  onHeaders: (cut: () => void) => () => void
}

/**
 * Sends a request and resolves with its answer; rejects when none comes in time, or with the reason of `signal`. When a
 * reused connection is closed before any byte of an answer, the request goes out once more on a new one (contract section
 * 9). It uses what lies below undici's `request`, whose streams and signals cost more than the sending.
 */
export function httpExchange(
  connections: Connections,
  { origin, path, headers, body }: HttpRequest,
  settings: ExchangeSettings,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let response: Omit<HttpResponse, 'body'> | undefined
    let abortReason: Error | undefined
    let onBodyRead: (() => void) | undefined
    const read = startOfBody()
    const abort = () => giveUp(signal?.reason as Error)
    let cancel = setDeadline(() => giveUp(new ConnectTimeout('no headers in time')), settings.timeoutMs)
    signal?.addEventListener('abort', abort, { once: true })

    /** Of whatever comes afterwards nobody wants to know. */
    function end(error?: Error): void {
      cancel()
      signal?.removeEventListener('abort', abort)
      onBodyRead?.()
      if (response === undefined) reject(error ?? new Error('The receiver gave no answer'))
      // Not `{ ...answer }`, which costs a microsecond on Node 20.
      else resolve(Object.assign(response, { body: read.text() }))
    }
    /** One that is not connected yet is given up as soon as it is. */
    function giveUp(reason: Error): void {
      if (abortReason !== undefined) return
      abortReason = reason
      controller?.abort(reason)
      end(reason)
    }

    function send(over: Connection): void {
      let begun = false
      over.dispatch(
        { origin, path, method: 'POST', headers, body },
        {
          onRequestStart(started) {
            controller = started
            over.begin()
            begun = true
            if (abortReason !== undefined) started.abort(abortReason)
          },
          onResponseStart(_controller, status, { location }) {
            if (status < 200) return
            cancel()
            signal?.removeEventListener('abort', abort)
            response = {
              status,
              location: typeof location === 'string' ? location : undefined,
              respondedAt: settings.measure(),
            }
            cancel = setDeadline(() => giveUp(new Error('The body goes on')), settings.bodyTimeoutMs)
            onBodyRead = settings.onHeaders(() => giveUp(new Error('Others begin')))
          },
          onResponseData(_controller, chunk) {
            if (read.add(chunk)) giveUp(new Error('The body is longer than what is kept'))
          },
          onResponseEnd() {
            over.release()
            if (abortReason === undefined) end()
          },
          onResponseError(_controller, error) {
            // undici lets a request that waits fail with a connection that is reset before the request is written.
            const wasStale = over.isReused() && !(begun && over.hasReceived()) && isClosed(error)
            over.destroy()
            if (abortReason !== undefined) return
            if (wasStale) send(connections.open(origin))
            else end(error)
          },
        },
      )
    }

    send(connections.take(origin))
  })
}

/** Whether the receiver ended the connection. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/.test(error.code ?? '')
}
