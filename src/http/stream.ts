import { viewDelivery, type Delivery } from '../model/delivery.ts'
import type { StoredEvent } from '../model/event.ts'
import type { Write } from '../model/records.ts'
import type { Service } from '../service.ts'
import type { Answer } from './refusals.ts'
import type { RequestLog } from './request-log.ts'

/**
 * The live view of the service: server-sent events `request`, `event` and `attempt`, as they happen (contract section 10),
 * and `reset` when all that was told before is void, since another state has taken its place.
 */
export interface Stream {
  open(): Answer
  /** Ends all open streams, so that a stopping server need not wait for them. */
  close(): void
}

/** Often enough that no proxy takes the stream for dead. */
const HEARTBEAT_MS = 15_000

/** A reader this far behind is cut off rather than remembered for: it can come back and read the lists. */
const MOST_WAITING_MESSAGES = 10_000

type Controller = ReadableStreamDefaultController<Uint8Array>

export function createStream(service: Pick<Service, 'onCommit'>, log: Pick<RequestLog, 'onAdd'>): Stream {
  const readers = new Set<Controller>()
  const encoder = new TextEncoder()
  let count = 0
  const send = (text: string) => {
    const bytes = encoder.encode(text)
    for (const reader of readers) deliver(reader, bytes, readers)
  }
  const publish = (type: string, data: string) => {
    count++
    send(`id: ${count}\nevent: ${type}\ndata: ${data}\n\n`)
  }
  // Most of the time nobody listens, and then nothing is put into words.
  log.onAdd((read) => {
    if (readers.size > 0) publish('request', JSON.stringify(read()))
  })
  service.onCommit((writes, kind) => {
    if (kind === 'replacement') publish('reset', '{}')
    else if (readers.size > 0) for (const [type, data] of writes.flatMap(announcements)) publish(type, data)
  })
  const heartbeat = setInterval(() => send(': still here\n\n'), HEARTBEAT_MS)
  heartbeat.unref()
  return {
    open: () => ({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
      body: openReader(readers, encoder.encode(': listening\n\n')),
    }),
    close() {
      clearInterval(heartbeat)
      for (const reader of readers) reader.close()
      readers.clear()
    },
  }
}

function openReader(readers: Set<Controller>, greeting: Uint8Array): ReadableStream<Uint8Array> {
  let own: Controller
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        own = controller
        controller.enqueue(greeting)
        readers.add(controller)
      },
      cancel: () => void readers.delete(own),
    },
    { highWaterMark: MOST_WAITING_MESSAGES },
  )
}

function deliver(reader: Controller, bytes: Uint8Array, readers: Set<Controller>): void {
  if ((reader.desiredSize ?? 0) > 0) return reader.enqueue(bytes)
  readers.delete(reader)
  reader.close()
}

/** What a write has to tell: a new event, or an attempt that was made. */
function announcements(write: Write): [type: string, data: string][] {
  if (!('put' in write)) return []
  if (write.collection === 'events') return [['event', eventMessage(write.put)]]
  // One that is held back, or let go again, was announced with its last attempt.
  if (write.collection === 'deliveries' && write.put.attempts.length > 0 && write.put.held === undefined)
    return [['attempt', attemptMessage(write.put)]]
  return []
}

function eventMessage({ body }: StoredEvent): string {
  return body
}

function attemptMessage(delivery: Delivery): string {
  const { attempts, ...rest } = viewDelivery(delivery)
  return JSON.stringify({ ...rest, attempt: attempts.at(-1) })
}
