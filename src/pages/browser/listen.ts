export type Connection = 'live' | 'reconnecting' | 'offline'

interface Listening {
  /** Of the stream. */
  url: string
  /** The events that are listened to. */
  types: readonly string[]
  onMessage(type: string, data: unknown): void
  /** Something may have been missed: the stream is there for the first time, or again. */
  onReturn(): void
  onConnection(state: Connection): void
}

/** Told of what happens for as long as the page is open; a stream that ends for good is opened anew. */
export function listen({ url, types, onMessage, onReturn, onConnection }: Listening): void {
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
      wait = Math.min(wait * 2, 30_000)
    })
  }
  open()
  addEventListener('offline', () => onConnection('offline'))
  addEventListener('online', () => {
    onConnection('reconnecting')
    onReturn()
  })
}
