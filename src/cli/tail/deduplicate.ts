import type { StreamMessage } from '../../client.ts'
import { createAttemptFilter } from '../reconnect.ts'

/** What can be told of earlier times. */
export type Told = Extract<StreamMessage, { type: 'attempt' | 'delivery' | 'request' }>

/** As many requests and dead deliveries are remembered: more than the service keeps in its log of requests. */
const MOST_REMEMBERED = 5_000

/** How long before the newest thing one may have begun that was not told yet: longer than any attempt takes. */
const MARGIN_MS = 60_000

/** Knows what has been told, and from when on to ask for what has not, when the stream was interrupted. */
export function createNews() {
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
    /** Whether it is new; from then on it is not. */
    isNew({ type, data }: Told): boolean {
      if (type === 'delivery') return isNewKey(`${data.id} dead`)
      newest = Math.max(newest, Date.parse(type === 'attempt' ? data.attempt.started_at : data.started_at))
      if (type === 'request') return isNewKey(data.id)
      // That it is dead is told with its last attempt.
      if (attempts.isNew(data)) return data.status !== 'dead' || isNewKey(`${data.id} dead`)
      return false
    },
    /** From when on to ask. A clock behind what was told is that of another store, of which everything is new. */
    since(now: Date): Date {
      const from = now.getTime() < newest ? 0 : Math.max(newest, 0) - MARGIN_MS
      return new Date(Math.max(from, 0))
    },
    /** It is so late by the clock of the service, and what was before it is known. */
    begin(now: Date): void {
      newest = now.getTime()
    },
    /** Another state has taken the place of all that was told. */
    forget(now: Date): void {
      attempts.forget()
      others.clear()
      newest = now.getTime()
    },
  }
}
