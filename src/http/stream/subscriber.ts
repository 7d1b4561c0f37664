import type { Message } from './message.ts'
import { timers } from '../../timers.ts'

/** A subscriber of a stream, from its first message on. */
export interface Subscriber {
  body: ReadableStream<Uint8Array>
  /**
   * Sends a message: behind the history, while that is read and sent. When too many bytes wait to be read, the message is
   * dropped and counted, and `bytes` is not called. A message with the key `reset` is never lost: what was before it is.
   */
  tell(key: string, bytes: () => Uint8Array): void
  /** Sends a sign of life, unless something waits to be read. */
  beat(bytes: Uint8Array): void
  /** Sends the part of the history that was before the subscriber came, then what was told meanwhile. */
  begin(history: readonly Message[]): void
  close(): void
}

interface ReaderOptions {
  /** Sent at once. */
  greeting: string
  /** Whether a history follows, by `begin`. */
  withHistory?: boolean
  /** Bytes that may wait to be read, and one message more. */
  mostBytes: number
  /** What is sent, as soon as the subscriber reads on, in the place of so many messages that were dropped. */
  dropped: (count: number) => string
  /** Called when the subscriber has left or was closed. */
  onEnd: () => void
}

/** Messages of the history that are sent before others have their turn. */
const BATCH = 100

/** Bytes of the history that may wait to be read. Each subscriber has its own, and more of it is there when it reads on. */
const MOST_HISTORY_BYTES = 64 * 1024

const encoder = new TextEncoder()

interface Told {
  key: string
  bytes: Uint8Array
}

export function createSubscriber({
  greeting,
  withHistory = false,
  mostBytes,
  dropped,
  onEnd,
}: ReaderOptions): Subscriber {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let waiting: Told[] | undefined = withHistory ? [] : undefined
  let waitingBytes = 0
  let history: readonly Message[] | undefined
  let sent = 0
  let missed = 0
  let missedReset: Uint8Array | undefined
  let ended = false
  const end = () => {
    ended = true
    waiting = undefined
    history = undefined
    onEnd()
  }
  const close = () => {
    if (ended) return
    end()
    controller.close()
  }
  const unread = () => mostBytes - (controller.desiredSize ?? 0)
  const hasRoom = () => unread() < mostBytes
  const tellMissed = () => {
    if (missed === 0 || waiting !== undefined || !hasRoom()) return
    controller.enqueue(encoder.encode(dropped(missed)))
    missed = 0
    if (missedReset !== undefined) controller.enqueue(missedReset)
    missedReset = undefined
  }
  const send = (key: string, bytes: () => Uint8Array) => {
    tellMissed()
    if (hasRoom()) return controller.enqueue(bytes())
    missed += 1
    if (key === 'reset') missedReset = bytes()
  }
  const hold = (held: Told[], key: string, bytes: () => Uint8Array) => {
    if (key === 'reset') {
      held.length = 0
      waitingBytes = 0
      missed = 0
    }
    if (waitingBytes >= mostBytes) missed += 1
    else {
      const told = { key, bytes: bytes() }
      held.push(told)
      waitingBytes += told.bytes.length
    }
  }
  const goLive = () => {
    const told = waiting ?? []
    waiting = undefined
    history = undefined
    controller.enqueue(encoder.encode('event: live\ndata: {}\n\n'))
    for (const { bytes } of told) controller.enqueue(bytes)
    tellMissed()
  }
  /** Sends as much of the history as there is room for, in steps between which the event loop runs. */
  const sendHistory = async () => {
    for (;;) {
      await timers.nextTurn()
      if (ended || history === undefined) return
      for (const { type, text } of history.slice(sent, sent + BATCH)) {
        if (unread() >= MOST_HISTORY_BYTES) return
        sent += 1
        const data = text()
        if (data !== undefined) controller.enqueue(encoder.encode(`event: ${type}\ndata: ${data}\n\n`))
      }
      if (unread() >= MOST_HISTORY_BYTES) return
      if (sent === history.length) return goLive()
    }
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        own.enqueue(encoder.encode(greeting))
      },
      pull: () => (history === undefined ? tellMissed() : sendHistory()),
      cancel: end,
    },
    { highWaterMark: mostBytes, size: ({ length }) => length },
  )
  return {
    body,
    tell(key, bytes) {
      if (ended) return
      if (waiting === undefined) send(key, bytes)
      else hold(waiting, key, bytes)
    },
    beat(bytes) {
      if (!ended && waiting === undefined && unread() === 0) controller.enqueue(bytes)
    },
    begin(all) {
      if (ended) return
      const keys = new Set(waiting?.map(({ key }) => key))
      // What was read after another state took the place of all is not what was before the subscriber came.
      history = keys.has('reset') ? [] : all.filter(({ key }) => !keys.has(key))
      void sendHistory()
    },
    close,
  }
}
