import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { messageOf, Refused } from '../call.ts'
import { callApi, pageHeader } from './api.ts'

/** A message of the live stream; `return` means that messages may have been missed. */
export interface LiveMessage {
  type: 'request' | 'event' | 'attempt' | 'delivery' | 'reset' | 'return'
  data: unknown
}

export const connection = signal<'live' | 'reconnecting' | 'offline'>('reconnecting')

/** True while the service cannot be reached, until the stream is open again. */
export const isGone = signal(false)

const listeners = new Set<(message: LiveMessage) => void>()

/** Calls the listener with each live message until the returned function is called. */
export function onLive(listener: (message: LiveMessage) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function publish(message: LiveMessage): void {
  for (const listener of listeners) listener(message)
}

/** Makes all listeners read again: after a reconnect, and after an action of this page. */
export function publishReturn(): void {
  publish({ type: 'return', data: {} })
}

/** Milliseconds until a closed stream is opened again; doubles from the first to the longest. */
const WAIT = { first: 1_000, longest: 5_000 }

/**
 * Reads the live stream. A hidden page closes it, because a browser opens at most six connections to a host for all tabs.
 * `EventSource` cannot send the page's header, `fetch` can.
 */
export function startStream(): void {
  let wait = WAIT.first
  const open = async () => {
    await untilVisible()
    const hidden = new AbortController()
    const stop = () => document.hidden && hidden.abort()
    document.addEventListener('visibilitychange', stop)
    try {
      await readStream(hidden.signal, () => (wait = WAIT.first))
    } catch {
      // The stream is opened again below. While it was open, the next attempt tells whether the service is gone.
      isGone.value = connection.value !== 'live' && !hidden.signal.aborted
    } finally {
      document.removeEventListener('visibilitychange', stop)
    }
    if (hidden.signal.aborted) {
      // The page reads again when it is visible.
      lastEventId = ''
      return void open()
    }
    connection.value = navigator.onLine ? 'reconnecting' : 'offline'
    setTimeout(() => void open(), wait)
    wait = Math.min(wait * 2, WAIT.longest)
  }
  void open()
  addEventListener('offline', () => (connection.value = 'offline'))
  addEventListener('online', () => {
    connection.value = 'reconnecting'
    publishReturn()
  })
}

async function untilVisible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

/** Id of the last message: another instance of a shared sandbox continues there when the connection is lost. */
let lastEventId = ''

async function readStream(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const headers = { ...pageHeader(), ...(lastEventId !== '' && { 'last-event-id': lastEventId }) }
  const response = await fetch('/_sim/stream', { headers, cache: 'no-store', signal })
  isGone.value = false
  if (!response.ok || response.body === null) return
  onOpen()
  connection.value = 'live'
  publishReturn()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let pending = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // A stream of this machine survives a lost network, and the service sends a comment every 15 s.
      connection.value = 'live'
      const messages = (pending + value).split('\n\n')
      pending = messages.pop() ?? ''
      for (const message of messages) receive(message)
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** Publishes a server-sent message. The service writes type and data on one line each; comments have neither. */
function receive(message: string): void {
  // Lines end with \n only: `.` and `$` would also stop at the U+2028 of a JSON text.
  const field = (name: string) => new RegExp(`(?:^|\\n)${name}: ([^\\n]*)`).exec(message)?.[1]
  lastEventId = field('id') ?? lastEventId
  const type = field('event')
  const data = field('data')
  if (type === undefined || data === undefined || type === 'live') return
  if (type === 'dropped') publishReturn()
  else publish({ type: type as LiveMessage['type'], data: JSON.parse(data) })
}

/** Pause after a read, as a multiple of its duration: one kind of read takes at most a quarter of the time. */
const PAUSE = 3

/**
 * Returns a function that runs `work` at once, then at most once per interval (in milliseconds). After work that takes
 * long, the pause is longer: a service with many records is read less often.
 */
export function throttled(work: () => unknown, intervalMs: number): () => void {
  let wanted = false
  let running = false
  const run = async () => {
    running = true
    while (wanted) {
      wanted = false
      const started = performance.now()
      await work()
      const pause = Math.max(intervalMs, PAUSE * (performance.now() - started))
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    running = false
  }
  return () => {
    wanted = true
    if (!running) void run()
  }
}

/** The last value read, and the problem of the last read when it failed; neither while the first read is in flight. */
export interface ReadResult<T> {
  value?: T
  problem?: string
}

/** Reads a path below `/_sim`, and reads it again after live messages, at most once per interval (in milliseconds). */
export function useRead<T>(path: string, intervalMs = 500): ReadResult<T> {
  const [result, setResult] = useState<ReadResult<T>>({})
  useEffect(() => {
    let ended = false
    const read = throttled(async () => {
      if (ended) return
      let next: ReadResult<T>
      let isUnreachable = false
      try {
        next = { value: await callApi<T>('GET', path) }
      } catch (error) {
        next = { problem: messageOf(error) }
        isUnreachable = error instanceof Refused && error.code === 'unreachable'
      }
      // The last value stays while the service is unreachable, with any half-filled form on it.
      if (!ended) setResult((last) => (isUnreachable ? { ...last, ...next } : next))
    }, intervalMs)
    read()
    const stop = onLive(read)
    return () => {
      ended = true
      stop()
    }
  }, [path])
  return result
}
