import { attemptMessages, viewDelivery, type Delivery } from '../../model/delivery.ts'
import type { LoggedRequest } from '../../model/simulator/request-entry.ts'
import { attemptedIn, type Write } from '../../model/records.ts'

/** A message of the stream. Its key identifies duplicates. */
export interface StreamMessage {
  type: 'request' | 'event' | 'attempt' | 'delivery' | 'reset' | 'dropped'
  key: string
  /** Position of a client that has this message; absent in a history since a time. */
  id?: string
  /** Returns the JSON at the time of sending; `undefined` when the record is no longer stored. */
  text: () => string | undefined
}

/** Returns the messages of a write, at most one: a new event, an attempt, or a delivery that ended without an attempt. */
export function messagesOf(write: Write): StreamMessage[] {
  if (!('put' in write)) return []
  if (write.collection === 'events') {
    const { id, body } = write.put
    return [{ type: 'event', key: id, text: () => body }]
  }
  if (write.collection !== 'deliveries') return []
  if (write.retires) return [retiredMessage(write.put)]
  const attempted = attemptedIn(write)
  return attempted === undefined ? [] : [attemptMessage(attempted, attempted.attempts.length)]
}

/** Returns the attempt with this number. */
export function attemptMessage(delivery: Delivery, number: number): StreamMessage {
  const text = () => JSON.stringify(attemptMessages(delivery)[number - 1])
  return { type: 'attempt', key: `${delivery.id} ${number}`, text }
}

/** Returns the message of a delivery that is dead without another attempt, because its endpoint was disabled or deleted. */
export function retiredMessage(delivery: Delivery): StreamMessage {
  return {
    type: 'delivery',
    key: `${delivery.id} dead`,
    text: () => JSON.stringify(viewDelivery(delivery)),
  }
}

export function requestMessage(id: string, read: () => LoggedRequest | undefined): StreamMessage {
  return { type: 'request', key: id, text: () => JSON.stringify(read()) }
}
