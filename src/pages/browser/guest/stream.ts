import type { PageModel } from '../../guest/model.ts'

interface SubscribeOptions {
  /** URL of the event stream. */
  url: string
  /** Event types to subscribe to. */
  types: readonly string[]
  onMessage(type: string, data: unknown): void
  /** Called at each (re)connect: events may have been missed. */
  onReturn(): void
  onConnection(state: PageModel['connection']): void
}

/** Longest pause between two attempts to open a closed stream, in milliseconds. */
const MAX_WAIT_MS = 30_000

/** Subscribes to an event stream for as long as the page is open, and reopens it when the browser gives up on it. */
export function subscribe({ url, types, onMessage, onReturn, onConnection }: SubscribeOptions): void {
  let wait = 1_000
  const open = () => {
    const stream = new EventSource(url)
    stream.addEventListener('open', () => {
      wait = 1_000
      onConnection('live')
      onReturn()
    })
    for (const type of types)
      stream.addEventListener(type, ({ data }: MessageEvent<string>) => onMessage(type, JSON.parse(data)))
    stream.addEventListener('error', () => {
      onConnection(navigator.onLine ? 'reconnecting' : 'offline')
      if (stream.readyState !== EventSource.CLOSED) return
      setTimeout(open, wait)
      wait = Math.min(wait * 2, MAX_WAIT_MS)
    })
  }
  open()
  addEventListener('offline', () => onConnection('offline'))
  addEventListener('online', () => {
    onConnection('reconnecting')
    onReturn()
  })
}
