import { setImmediate } from 'node:timers/promises'
import type { Message } from './stream-message.ts'

/** Whoever listens to the stream, from the moment of its coming on. */
export interface StreamReader {
  body: ReadableStream<Uint8Array>
  /** Told when its turn comes: behind the history, while that is read and sent. */
  tell(key: string, text: string): void
  /** Ends the waiting of what was told: first comes the part of the history that was before the reader did. */
  begin(history: readonly Message[]): void
  close(): void
}

/** A reader this far behind is cut off rather than remembered for: it can come back and read the lists. */
const MOST_WAITING_MESSAGES = 10_000

/** Messages of the history that are put into words before others have their turn. */
const BATCH = 100

const encoder = new TextEncoder()

interface Told {
  key: string
  text: string
}

/** A reader that gets `greeting` at once. It waits for `begin` when it is to have a history, and `onEnd` hears of its end. */
export function createReader(greeting: string, withHistory: boolean, onEnd: () => void): StreamReader {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let waiting: Told[] | undefined = withHistory ? [] : undefined
  let history: readonly Message[] | undefined
  let sent = 0
  let ended = false
  const end = () => {
    ended = true
    waiting = undefined
    onEnd()
  }
  const close = () => {
    if (ended) return
    end()
    controller.close()
  }
  const send = (text: string) => {
    if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text))
    else close()
  }
  const goLive = () => {
    const told = waiting ?? []
    waiting = undefined
    history = undefined
    // As much as a reader may be behind has been held back for it, and it is not cut off for that.
    for (const text of ['event: live\ndata: {}\n\n', ...told.map(({ text }) => text)])
      controller.enqueue(encoder.encode(text))
  }
  const sendBatch = async () => {
    await setImmediate()
    if (ended || history === undefined) return
    if (sent === history.length) return goLive()
    const batch = history.slice(sent, sent + BATCH)
    sent += batch.length
    for (const { type, text } of batch)
      controller.enqueue(encoder.encode(`event: ${type}\ndata: ${text()}\n\n`))
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        own.enqueue(encoder.encode(greeting))
      },
      pull: () => (history === undefined ? undefined : sendBatch()),
      cancel: end,
    },
    { highWaterMark: MOST_WAITING_MESSAGES },
  )
  return {
    body,
    tell(key, text) {
      if (ended) return
      if (waiting === undefined) return send(text)
      waiting.push({ key, text })
      if (waiting.length > MOST_WAITING_MESSAGES) close()
    },
    begin(all) {
      const keys = new Set(waiting?.map(({ key }) => key))
      // What was read after another state took the place of all is not what was before the reader came.
      history = keys.has('reset') ? [] : all.filter(({ key }) => !keys.has(key))
      void sendBatch()
    },
    close,
  }
}
