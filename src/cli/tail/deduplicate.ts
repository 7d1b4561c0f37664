import type { StreamMessage } from '../../client.ts'
import { createAttemptFilter } from '../reconnect.ts'

/** Message that can be repeated after a reconnect. */
export type TailMessage = Extract<StreamMessage, { type: 'attempt' | 'delivery' | 'request' }>

/** Limit of remembered requests and dead deliveries: more than the service's request log holds. */
const MOST_REMEMBERED = 5_000

/** Overlap when resuming, in milliseconds; longer than any attempt. */
const MARGIN_MS = 60_000

/** Filters messages that were shown before, and knows from when on to resume an interrupted stream. */
export function createDeduplicator() {
  const attempts = createAttemptFilter()
  const others = new Set<string>()
  let newest = 0
  const isNewKey = (key: string) => {
    if (others.has(key)) return false
    others.add(key)
    const [oldest] = others
    if (others.size > MOST_REMEMBERED && oldest !== undefined) others.delete(oldest)
    return true
  }
  return {
    /** Returns true for the first copy of a message. */
    isNew({ type, data }: TailMessage): boolean {
      if (type === 'delivery') return isNewKey(`${data.id} dead`)
      newest = Math.max(newest, Date.parse(type === 'attempt' ? data.attempt.started_at : data.started_at))
      if (type === 'request') return isNewKey(data.id)
      // The last attempt shows that its delivery is dead.
      if (attempts.isNew(data)) return data.status !== 'dead' || isNewKey(`${data.id} dead`)
      return false
    },
    /**
     * Returns the time from which to resume. A clock behind the newest message belongs to another store, of which
     * everything is new.
     */
    since(now: Date): Date {
      const from = now.getTime() < newest ? 0 : Math.max(newest, 0) - MARGIN_MS
      return new Date(Math.max(from, 0))
    },
    /** Sets the service clock's time at the start: earlier messages are not missing. */
    begin(now: Date): void {
      newest = now.getTime()
    },
    /** Forgets all messages, after another state was loaded. */
    forget(now: Date): void {
      attempts.forget()
      others.clear()
      newest = now.getTime()
    },
  }
}
