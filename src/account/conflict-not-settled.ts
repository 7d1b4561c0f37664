import type { Problem } from '../model/simulator/account.ts'

/** A push that was refused because of claims, and that no accepted push of its check followed. */
export interface UnsettledConflict {
  location_id: string
  external_check_id: string
  /** Id of the first refused push. */
  request: string
  started_at: string
}

/** Describes a 409 without an accepted push afterwards. */
export function conflictNotSettled({ external_check_id, request, started_at }: UnsettledConflict): Problem {
  return {
    code: 'conflict_not_settled',
    external_check_id,
    at: started_at,
    message: `A push of check ${external_check_id} was refused with 409 conflict_with_paid_items, and no accepted push followed. The bill of the POS differs from the bill that guests pay. Restore the items of the conflicts at their price and push the check.`,
    requests: [request],
    events: [],
    deliveries: [],
  }
}
