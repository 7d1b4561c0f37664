import { attemptMessages, viewDelivery, type Delivery } from '../../model/delivery.ts'
import type { LoggedRequest } from '../../model/simulator/request-entry.ts'
import type { Write } from '../../model/records.ts'

/** Something that the stream tells: by its key it is known when it comes up twice. */
export interface Message {
  type: 'request' | 'event' | 'attempt' | 'delivery' | 'reset'
  key: string
  /** JSON, made when it is sent; `undefined` when it is no longer stored by then. */
  text: () => string | undefined
}

/** What a write has to tell: a new event, an attempt that was made, or a delivery that ended without one. */
export function messagesOf(write: Write): Message[] {
  if (!('put' in write)) return []
  if (write.collection === 'events') {
    const { id, body } = write.put
    return [{ type: 'event', key: id, text: () => body }]
  }
  if (write.collection !== 'deliveries') return []
  if (write.retires) return [retiredMessage(write.put)]
  // One that is held back, or let go again, was announced with its last attempt.
  const made = write.put.attempts.length
  return made === 0 || write.put.held !== undefined ? [] : [attemptMessage(write.put, made)]
}

/** The attempt with this number. */
export function attemptMessage(delivery: Delivery, number: number): Message {
  const text = () => JSON.stringify(attemptMessages(delivery)[number - 1])
  return { type: 'attempt', key: `${delivery.id} ${number}`, text }
}

/** A delivery that is dead without another attempt: its endpoint was disabled or removed. */
export function retiredMessage(delivery: Delivery): Message {
  return {
    type: 'delivery',
    key: `${delivery.id} dead`,
    text: () => JSON.stringify(viewDelivery(delivery)),
  }
}

export function requestMessage(id: string, read: () => LoggedRequest | undefined): Message {
  return { type: 'request', key: id, text: () => JSON.stringify(read()) }
}
