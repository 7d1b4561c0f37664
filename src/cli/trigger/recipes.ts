import type { EventType } from '../../model/event.ts'

/** What can be done to a check, by its POS or by a guest. */
export type StepName = 'push' | 'change' | 'close' | 'claim' | 'pay' | 'pay_part' | 'refund' | 'rate'

/**
 * What leads to each event (specification section 6, contract sections 6 and 7). The last step gives the event; those
 * before it make sure that it can, and are left out where a check is as they would make it.
 */
export const recipes = {
  'check.created': ['push'],
  'check.updated': ['push', 'change'],
  'check.closed': ['push', 'close'],
  'check.fully_paid': ['push', 'pay'],
  'payment.succeeded': ['push', 'pay_part'],
  'payment.refunded': ['push', 'pay_part', 'refund'],
  'claim.created': ['push', 'claim'],
  'feedback.received': ['push', 'rate'],
} as const satisfies Record<EventType, readonly StepName[]>
