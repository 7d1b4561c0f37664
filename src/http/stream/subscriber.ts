import type { StreamMessage } from './message.ts'
import { timers } from '../../timers.ts'

/** A subscriber of a stream. */
export interface Subscriber {
  body: ReadableStream<Uint8Array>
  /**
   * Sends a message, after the history if that is still being sent. When too many bytes are queued, the message is dropped
   * and counted, and `bytes` is not called. A message with the key `reset` is sent in any case: it clears the buffer
   * behind the history, and the messages that were dropped before it no longer count.
   */
  send(key: string, bytes: () => Uint8Array): void
  /** Sends a heartbeat, unless other data is queued. */
  beat(bytes: Uint8Array): void
  /** Sends the history before the subscription, then the messages since. */
  begin(history: readonly StreamMessage[]): void
  close(): void
}

interface SubscriberOptions {
  /** First bytes to send. */
  greeting: string
  /** Given when a history follows, by `begin`. `end` is the id of the message `live` after it. */
  history?: { end: string } | undefined
  /** Limit of queued bytes; one more message may exceed it. */
  mostBytes: number
  /** Returns the message that replaces a number of dropped messages. */
  dropped: (count: number) => string
  /** Called when the subscriber disconnects or is closed. */
  onEnd: () => void
}

/** Messages of the history to send before yielding to other requests. */
const BATCH = 100

/** Limit of queued bytes of the history per subscriber. */
const MOST_HISTORY_BYTES = 64 * 1024

const encoder = new TextEncoder()

interface BufferedMessage {
  key: string
  bytes: Uint8Array
}

export function createSubscriber({
  greeting,
  history: expected,
  mostBytes,
  dropped,
  onEnd,
}: SubscriberOptions): Subscriber {
  let controller: ReadableStreamDefaultController<Uint8Array>
  /** Messages behind the history; `undefined` once it is sent. */
  let buffer: BufferedMessage[] | undefined = expected === undefined ? undefined : []
  let bufferBytes = 0
  let history: readonly StreamMessage[] | undefined
  let sent = 0
  let missed = 0
  let missedReset: Uint8Array | undefined
  let ended = false
  const end = () => {
    ended = true
    buffer = undefined
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
  const sendMissed = () => {
    if ((missed === 0 && missedReset === undefined) || buffer !== undefined || !hasRoom()) return
    if (missedReset !== undefined) controller.enqueue(missedReset)
    missedReset = undefined
    if (missed > 0) controller.enqueue(encoder.encode(dropped(missed)))
    missed = 0
  }
  const sendLive = (key: string, bytes: () => Uint8Array) => {
    sendMissed()
    if (hasRoom()) controller.enqueue(bytes())
    else if (key === 'reset') {
      missedReset = bytes()
      missed = 0
    } else missed += 1
  }
  const sendLater = (messages: BufferedMessage[], key: string, bytes: () => Uint8Array) => {
    if (key === 'reset') {
      messages.length = 0
      bufferBytes = 0
      missed = 0
    }
    if (bufferBytes >= mostBytes) missed += 1
    else {
      const message = { key, bytes: bytes() }
      messages.push(message)
      bufferBytes += message.bytes.length
    }
  }
  const goLive = () => {
    const messages = buffer ?? []
    buffer = undefined
    history = undefined
    controller.enqueue(encoder.encode(`event: live\ndata: {}\nid: ${expected?.end}\n\n`))
    for (const { bytes } of messages) controller.enqueue(bytes)
    sendMissed()
  }
  /** Sends the history as far as the queue has room, in steps between which the event loop runs. */
  const sendHistory = async () => {
    for (;;) {
      await timers.nextTurn()
      if (ended || history === undefined) return
      for (const { type, text, id } of history.slice(sent, sent + BATCH)) {
        if (unread() >= MOST_HISTORY_BYTES) return
        sent += 1
        const data = text()
        const line = id === undefined ? '' : `\nid: ${id}`
        if (data !== undefined) controller.enqueue(encoder.encode(`event: ${type}\ndata: ${data}${line}\n\n`))
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
      pull: () => (history === undefined ? sendMissed() : sendHistory()),
      cancel: end,
    },
    { highWaterMark: mostBytes, size: ({ length }) => length },
  )
  return {
    body,
    send(key, bytes) {
      if (ended) return
      if (buffer === undefined) sendLive(key, bytes)
      else sendLater(buffer, key, bytes)
    },
    beat(bytes) {
      if (!ended && buffer === undefined && unread() === 0) controller.enqueue(bytes)
    },
    begin(all) {
      if (ended) return
      const keys = new Set(buffer?.map(({ key }) => key))
      // After the state was replaced, the rest of the history no longer applies.
      history = keys.has('reset') ? [] : all.filter(({ key }) => !keys.has(key))
      void sendHistory()
    },
    close,
  }
}
