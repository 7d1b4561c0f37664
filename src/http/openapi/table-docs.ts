import type { AnswerDoc, OperationDocs } from './operation.ts'

/** JSON for this guest, now. */
const fresh = { headers: ['Cache-Control', 'Cross-Origin-Resource-Policy'] } as const

const page = {
  type: 'text/html',
  headers: [...fresh.headers, 'Content-Security-Policy', 'Referrer-Policy'],
} as const satisfies Partial<AnswerDoc>

const tag = 'Simulator guest page'

/** What a guest's phone calls, below the address that the QR code of a table holds (contract section 7). */
export const tableDocs: OperationDocs = {
  'GET /:number/:token': {
    id: 'openTablePage',
    tag,
    summary: 'Open the page of a table',
    description:
      'The one operation that answers HTML: what the QR code opens. The page has the state in it, and calls the other operations. `/t/{number}` without a token is answered as a wrong token is.',
    headers: ['Accept-Language'],
    answers: {
      200: { description: 'The page.', ...page },
      404: { description: 'A page that says that there is no table here.', ...page },
    },
  },
  'GET /:number/:token/state': {
    id: 'getTableState',
    tag,
    summary: 'Show a table',
    description:
      'Open checks, closed ones that are owed, and for an hour those that were paid. With `X-Guest-Id` it tells what of it is of that guest.',
    headers: ['X-Guest-Id.optional'],
    answers: { 200: { description: 'The table.', schema: 'TableView', ...fresh } },
    errors: ['NotFound'],
  },
  'GET /:number/:token/stream': {
    id: 'streamTable',
    tag,
    summary: 'Stream changes at a table',
    description:
      'Server-sent events `change`, at once and whenever the state may have changed, each with `{}` as its data, until the connection is closed. Read the state again at each.',
    answers: {
      200: { description: 'The stream.', type: 'text/event-stream', headers: ['Cache-Control'] },
    },
    errors: ['NotFound'],
  },
  'POST /:number/:token/claims': {
    id: 'claimAtTable',
    tag,
    summary: 'Claim items of a check at the table',
    description: 'All of it or nothing. Leads to `claim.created`.',
    headers: ['X-Guest-Id'],
    body: 'TableClaimRequest',
    answers: { 201: { description: 'The claim.', schema: 'Claim', ...fresh } },
    errors: ['NotFound', 'NotClaimable'],
  },
  'DELETE /:number/:token/claims/:id': {
    id: 'releaseClaimAtTable',
    tag,
    summary: "Release a claim of the guest's own that is not paid",
    description: 'Releasing it again changes nothing. Leads to no event.',
    headers: ['X-Guest-Id'],
    answers: { 200: { description: 'The claim, released.', schema: 'Claim', ...fresh } },
    errors: ['ForbiddenGuest', 'NotFound', 'ClaimNotActive'],
  },
  'POST /:number/:token/payments': {
    id: 'payAtTable',
    tag,
    summary: "Pay claims of the guest's own, an amount, or all that is owed",
    description:
      'There is no idempotency key. With `expected_cents`, what the guest was shown, no other amount is taken. Sent again, a payment of claims is answered 409, and so is one of all that is owed, unless something is owed again by then; one of `amount_cents` is made again as long as so much is owed, so look at the state first. Leads to `payment.succeeded`, and to `check.fully_paid` when nothing is owed any more.',
    headers: ['X-Guest-Id'],
    body: 'TablePaymentRequest',
    answers: { 201: { description: 'The payment.', schema: 'Payment', ...fresh } },
    errors: ['CardDeclined', 'ForbiddenGuest', 'NotFound', 'NotPayableAsShown'],
  },
  'POST /:number/:token/feedback': {
    id: 'leaveFeedbackAtTable',
    tag,
    summary: 'Rate the meal',
    description: 'As often as one likes, and by anybody at the table. Leads to `feedback.received`.',
    body: 'TableFeedbackRequest',
    answers: { 201: { description: 'The feedback.', schema: 'Feedback', ...fresh } },
    errors: ['NotFound'],
  },
}
