import type { Json } from './json.ts'

/** What there is to say of fields and components, by `Component` or `Component.field`. */
const texts: Readonly<Record<string, string>> = {
  CheckPush: 'The complete current state of a check (specification section 2).',
  'CheckPush.revision':
    'Grows with each change of the check: a counter, or epoch milliseconds. With it, pushes in any order end in one state. `start --order-by FIELD` reads it from another field, whose values are integers or ISO 8601 times.',
  'CheckPush.items': "All of the check's items.",
  'PushedItem.external_id':
    "The caller's identifier of the item, unique within the check; items are matched by it.",
  'PushedItem.quantity':
    'More than 0, up to 1,000,000, kept as it is. Guests claim in thousandths: more decimals are a finding.',
  'PushedItem.price_cents': 'The price of one unit in minor units; negative for a discount.',
  'PushedItem.note': 'Free text.',
  Totals: 'In minor units. They need not add up: service charges and inclusive taxes are real.',
  Check: 'A check as it is answered and told of (contract section 3).',
  'Check.external_id': "The caller's own identifier, which is in the path.",
  'Check.revision':
    'That of the push which it shows, whatever its field; a time is in UTC. Null when the push had none.',
  'Check.paid_cents': 'What guests have paid and not been given back, without tips.',
  'Check.balance_cents': 'What is still owed; negative when the total fell below what was paid.',
  'Check.updated_at': 'Moves forward with every visible change, so the newer of two states can be told.',
  'CheckItem.claimed_quantity': 'How much of it guests have claimed, paid or not.',
  'CheckItem.paid_quantity':
    'How much of it is in claims that are paid; all of it while the check is fully paid, by any guest.',
  Claim: 'What a guest has taken on.',
  'ClaimedItem.quantity': 'In thousandths at the finest.',
  'Claim.amount_cents': 'Its share of the total as the check is now; fixed once it is paid or released.',
  'Claim.payment_id': 'The payment that paid it, also when that was refunded since.',
  'ClaimedItem.price_cents': 'The price of one unit when it was claimed.',
  'Payment.amount_cents': 'What went to the check; the tip is beside it.',
  'Payment.claim_ids': 'The claims that it paid.',
  'Payment.refunded_cents': 'Of the amount, 0 to all of it.',
  'Feedback.rating': '1 to 5, 5 is best.',
  WebhookEndpoint: 'A URL that receives events of its location.',
  'WebhookEndpoint.status': 'A disabled endpoint gets nothing more; register its URL again.',
  'RegisteredWebhookEndpoint.signing_secret':
    'Shown this once. The key of the signatures of all deliveries to this endpoint.',
  'WebhookEndpointRegistration.url': 'An absolute https: URL without user info and fragment.',
  'WebhookEndpointRegistration.event_types': 'What is delivered to it; each type once.',
  'ClaimRequest.items': 'Each item once; quantities of more than 0, within what is left unclaimed.',
  'PaymentRequest.claim_ids': 'Claims to pay in full; not together with `amount_cents`.',
  'PaymentRequest.amount_cents': 'An amount to pay; not together with `claim_ids`.',
  'PaymentRequest.tip_cents': 'None unless it is given.',
  'RefundRequest.amount_cents': 'The rest of the payment unless it is given.',
  'ResendRequest.fresh': 'True signs with the present time; false repeats the header of the first attempt.',
  'KeyRequest.scopes': 'All of them unless they are given.',
  'KeyRequest.location_id': 'Of the key that asks unless it is given.',
  'Delivery.next_attempt_at': 'While it is pending.',
  'Attempt.response_body': 'The first 4 KiB of it.',
  'Attempt.error': 'In words, what went wrong and what to do about it.',
  Event: 'The envelope, and `body`: the envelope as it is signed and sent, byte for byte.',
  'Clock.offset_ms': 'How far it is ahead of real time, in milliseconds.',
  'TableAddress.url': 'Gives access to the table without a key.',
  'TableView.checks': 'Open ones first, each newest first.',
  'TableCheck.even_split_cents':
    'What is to be split when guests pay in even parts: the total without what was paid by claims.',
  'TableCheck.claims': 'Those that hold items, oldest first.',
  'TableCheck.payments': 'Oldest first.',
  'TableClaim.mine': 'Whether it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.mine': 'Whether it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.tip_cents': "Null for another guest's: what others gave is their own business.",
  'TableClaimRequest.external_check_id': 'Which of the checks at the table is meant.',
  'TableClaimRequest.items': 'Each item once; quantities of more than 0, within what is left unclaimed.',
  'TablePaymentRequest.external_check_id': 'Which of the checks at the table is meant.',
  'TablePaymentRequest.claim_ids':
    "Claims of the guest's own to pay in full; not together with `amount_cents`.",
  'TablePaymentRequest.amount_cents': 'An amount to pay; not together with `claim_ids`.',
  'TablePaymentRequest.tip_cents': 'None unless it is given.',
  'TablePaymentRequest.expected_cents':
    'What the guest was told to pay, without the tip; when it is another amount by now, nothing is paid.',
  'TablePaymentRequest.card': 'How the simulated card takes it: approved unless it is given.',
  'TableFeedbackRequest.external_check_id': 'Which of the checks at the table is meant.',
  'TableFeedbackRequest.rating': '1 to 5, 5 is best.',
}

/** Adds the descriptions. @throws when one is of something that there is not. */
export function describe(schemas: Record<string, Json>): Record<string, Json> {
  for (const [key, description] of Object.entries(texts)) {
    const [name = '', field] = key.split('.')
    const schema = schemas[name]
    const target =
      field === undefined ? schema : (schema?.properties as Record<string, Json> | undefined)?.[field]
    if (target === undefined) throw new Error(`There is no ${key} to describe.`)
    target.description = description
  }
  return schemas
}
