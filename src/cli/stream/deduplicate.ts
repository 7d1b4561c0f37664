import type { AttemptMessage } from '../../client.ts'

/** So many deliveries are remembered by the number of their last attempt; those that matter are among the newest. */
const MOST_REMEMBERED = 20_000

/** Tells attempts that were told before from new ones; those of one delivery are to come in their order. */
export function createAttemptFilter() {
  const seen = new Map<string, number>()
  return {
    /** Whether it is new; from then on it is not. */
    isNew({ id, attempt }: AttemptMessage): boolean {
      if (attempt.number <= (seen.get(id) ?? 0)) return false
      seen.delete(id)
      seen.set(id, attempt.number)
      const [oldest] = seen.keys()
      if (seen.size > MOST_REMEMBERED && oldest !== undefined) seen.delete(oldest)
      return true
    },
    forget: () => seen.clear(),
  }
}
