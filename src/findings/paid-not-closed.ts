import type { Finding } from './finding.ts'

/** How long a POS may take to close a paid check, in minutes of the service's clock. */
const MINUTES = 15

/** Finds a check that was paid in full at `paidAt` and that is still open. */
export function paidNotClosed(external_check_id: string, paidAt: Date, now: Date): Finding | undefined {
  const minutes = Math.floor((now.getTime() - paidAt.getTime()) / 60_000)
  if (minutes < MINUTES) return undefined
  return {
    code: 'paid_not_closed',
    message: `Check ${external_check_id} was fully paid ${minutes} minutes ago and is still open. The POS may charge the next party on it. When check.fully_paid arrives, close the check: push it with the status closed.`,
  }
}
