import { signal } from '@preact/signals'
import { type StateUpdater, useEffect, useState } from 'preact/hooks'
import { Refused } from '../call.ts'
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

/** Reads the live stream for as long as the page is open. `EventSource` cannot send the page's header, `fetch` can. */
export function startStream(): void {
  let wait = WAIT.first
  const open = async () => {
    try {
      await readStream(() => (wait = WAIT.first))
    } catch {
      // The stream is opened again below. While it was open, the next attempt tells whether the service is gone.
      isGone.value = connection.value !== 'live'
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

async function readStream(onOpen: () => void): Promise<void> {
  const response = await fetch('/_sim/stream', { headers: pageHeader(), cache: 'no-store' })
  isGone.value = false
  if (!response.ok || response.body === null) return
  onOpen()
  connection.value = 'live'
  publishReturn()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let pending = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const messages = (pending + value).split('\n\n')
    pending = messages.pop() ?? ''
    for (const message of messages) receive(message)
  }
}

/** Publishes a server-sent message. The service writes type and data on one line each; comments have neither. */
function receive(message: string): void {
  const type = /^event: (.*)$/m.exec(message)?.[1]
  const data = /^data: (.*)$/m.exec(message)?.[1]
  if (type === undefined || data === undefined) return
  if (type === 'dropped') publishReturn()
  else publish({ type: type as LiveMessage['type'], data: JSON.parse(data) })
}

/** Returns a function that runs `work` at once, then at most once per interval (in milliseconds). */
export function throttled(work: () => void, intervalMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted = false
  const run = () => {
    wanted = false
    work()
    timer = setTimeout(() => {
      timer = undefined
      if (wanted) run()
    }, intervalMs)
  }
  return () => {
    if (timer === undefined) run()
    else wanted = true
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
    let started = 0
    let newest = 0
    const read = throttled(() => {
      const number = ++started
      // A later read may have answered first; its result is newer.
      const show = (update: StateUpdater<ReadResult<T>>) => {
        if (number > newest) setResult(update)
        newest = Math.max(newest, number)
      }
      callApi<T>('GET', path).then(
        (value) => show({ value }),
        (error: unknown) => {
          const problem = error instanceof Error ? error.message : String(error)
          // The last value stays while the service is unreachable, with any half-filled form on it.
          if (error instanceof Refused && error.code === 'unreachable') show((last) => ({ ...last, problem }))
          else show({ problem })
        },
      )
    }, intervalMs)
    read()
    const stop = onLive(read)
    return () => {
      newest = Infinity
      stop()
    }
  }, [path])
  return result
}
