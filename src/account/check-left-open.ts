import type { StoredCheck } from '../model/check.ts'
import { isFullyPaid } from '../model/guests/claimed-items.ts'
import type { Problem } from '../model/simulator/account.ts'
import type { Happened } from './happened.ts'

/**
 * Finds a check that was fully paid and is still open with nothing owed. A check with a new balance is not left open:
 * its guests have ordered more. With `allClosed`, finds any open check.
 */
export function checkLeftOpen(
  check: StoredCheck,
  happened: readonly Happened[],
  allClosed: boolean,
): Problem[] {
  if (check.status === 'closed') return []
  const paid = happened.findLast(({ type }) => type === 'check.fully_paid')
  const isPaid = check.balance_cents <= 0 && (paid !== undefined || isFullyPaid(check))
  if (!isPaid && !allClosed) return []
  const { external_id } = check
  const message = isPaid
    ? `Check ${external_id} was fully paid and is still open. The POS may charge the next party on it. When check.fully_paid arrives, close the check: push it with the status closed.`
    : `Check ${external_id} is still open, and --all-closed expects every check to be closed. Close the check: push it with the status closed.`
  return [
    {
      code: 'check_left_open',
      external_check_id: external_id,
      at: paid?.created_at ?? check.updated_at,
      message,
      requests: [],
      events: paid === undefined ? [] : [paid.id],
      deliveries: paid?.deliveries.map(({ id }) => id) ?? [],
    },
  ]
}
