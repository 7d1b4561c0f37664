export type Connection = 'live' | 'reconnecting' | 'offline'

interface Streaming {
  /** Of the stream. */
  url: string
  /** Asked for at each connection, since a new session has another secret. */
  headers: () => Record<string, string>
  onMessage(type: string, data: unknown): void
  /** Something may have been missed: the stream is there for the first time, or again. */
  onReturn(): void
  onConnection(state: Connection): void
}

/** Milliseconds until a stream that ended is asked for again; doubled up to the longest. */
const WAIT = { first: 1_000, longest: 30_000 }

/** Reads server-sent events for as long as the page is open. `EventSource` can send no header, so `fetch` reads them. */
export function stream(parts: Streaming): void {
  let wait = WAIT.first
  const open = async () => {
    try {
      await readOnce(parts, () => (wait = WAIT.first))
    } catch {
      // It is asked for again below.
    }
    parts.onConnection(navigator.onLine ? 'reconnecting' : 'offline')
    setTimeout(() => void open(), wait)
    wait = Math.min(wait * 2, WAIT.longest)
  }
  void open()
  addEventListener('offline', () => parts.onConnection('offline'))
  addEventListener('online', () => {
    parts.onConnection('reconnecting')
    parts.onReturn()
  })
}

async function readOnce({ url, headers, ...parts }: Streaming, onOpen: () => void): Promise<void> {
  const response = await fetch(url, { headers: headers(), cache: 'no-store' })
  if (!response.ok || response.body === null) return
  onOpen()
  parts.onConnection('live')
  parts.onReturn()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let pending = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const messages = (pending + value).split('\n\n')
    pending = messages.pop() ?? ''
    for (const message of messages) tell(message, parts.onMessage)
  }
}

/** A message has its type and its data on one line each, as the service writes it; a comment has neither. */
function tell(message: string, onMessage: Streaming['onMessage']): void {
  const type = /^event: (.*)$/m.exec(message)?.[1]
  const data = /^data: (.*)$/m.exec(message)?.[1]
  if (type !== undefined && data !== undefined) onMessage(type, JSON.parse(data))
}
