import type { OperationDocs } from './operation.ts'

/** What guests do, played through `/_sim` (contract section 7). */
export const guestDocs: OperationDocs = {
  'POST /checks/:external_check_id/claims': {
    id: 'claimItems',
    tag: 'Simulator guests',
    summary: 'Claim items of a check',
    description: 'All of it or nothing. Leads to `claim.created`.',
    body: 'ClaimRequest',
    answers: { 201: { description: 'The claim.', schema: 'Claim' } },
    errors: ['NotFound', 'NotClaimable'],
  },
  'DELETE /claims/:id': {
    id: 'releaseClaim',
    tag: 'Simulator guests',
    summary: 'Release a claim that is not paid',
    description: 'Leads to no event.',
    answers: { 200: { description: 'The claim, released.', schema: 'Claim' } },
    errors: ['NotFound', 'ClaimNotActive'],
  },
  'POST /checks/:external_check_id/payments': {
    id: 'payCheck',
    tag: 'Simulator guests',
    summary: 'Pay claims, an amount, or all that is owed',
    description:
      'With `claim_ids` what they owe, with `amount_cents` so much, with neither the whole balance. Leads to `payment.succeeded`, and to `check.fully_paid` when nothing is owed any more.',
    body: 'PaymentRequest',
    answers: { 201: { description: 'The payment.', schema: 'Payment' } },
    errors: ['NotFound', 'NotPayable'],
  },
  'POST /payments/:id/refunds': {
    id: 'refundPayment',
    tag: 'Simulator guests',
    summary: 'Refund a payment, or part of it',
    description:
      'The rest of it unless an amount is given. A full refund releases its claims. Leads to `payment.refunded`.',
    body: 'RefundRequest',
    answers: { 200: { description: 'The payment.', schema: 'Payment' } },
    errors: ['NotFound', 'ExceedsPayment'],
  },
  'POST /checks/:external_check_id/feedback': {
    id: 'leaveFeedback',
    tag: 'Simulator guests',
    summary: 'Rate the meal',
    description: 'Leads to `feedback.received`.',
    body: 'FeedbackRequest',
    answers: { 201: { description: 'The feedback.', schema: 'Feedback' } },
    errors: ['NotFound'],
  },
}
