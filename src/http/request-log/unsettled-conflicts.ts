import type { UnsettledConflict } from '../../account/account.ts'
import { checkKey } from '../../model/check.ts'
import type { RequestEntry } from '../request-context.ts'

/** Pushes that were refused because of claims, until an accepted push of the same check follows. */
export interface UnsettledConflicts {
  /** Adds the next request. */
  follow(entry: RequestEntry): void
  /** The first refused push of each check without an accepted push since, oldest first. */
  open(): readonly UnsettledConflict[]
  clear(): void
}

/** Most checks with a conflict. The oldest are dropped. */
const KEEP = 1_000

export function createUnsettledConflicts(saved: readonly UnsettledConflict[] = []): UnsettledConflicts {
  const conflicts = new Map(
    saved.map((conflict) => [
      checkKey({ location_id: conflict.location_id, external_id: conflict.external_check_id }),
      conflict,
    ]),
  )
  return {
    follow({ id, started_at, push }) {
      const check = push?.after ?? push?.before
      if (push === null || check === null || check === undefined || push.outcome === 'stale') return
      const key = checkKey(check)
      if (push.outcome !== 'conflict') return void conflicts.delete(key)
      if (conflicts.has(key)) return
      const { location_id, external_id: external_check_id } = check
      conflicts.set(key, { location_id, external_check_id, request: id, started_at })
      const [oldest = ''] = conflicts.keys()
      if (conflicts.size > KEEP) conflicts.delete(oldest)
    },
    open: () => [...conflicts.values()],
    clear: () => conflicts.clear(),
  }
}
