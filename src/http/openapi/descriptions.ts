import type { Json } from './json.ts'

/** Descriptions by `Component` or `Component.field`. */
const texts: Readonly<Record<string, string>> = {
  CheckPush: 'The complete current state of a check (specification section 2).',
  'CheckPush.revision':
    'Increases with each change of the check: a counter, or milliseconds since 1970. Pushes with a revision converge in any order. `start --order-by FIELD` reads it from another field with integers or ISO 8601 times.',
  'CheckPush.items': 'All items of the check.',
  'PushedItem.external_id':
    "The caller's identifier of the item, unique within the check. Items are matched by it.",
  'PushedItem.quantity':
    'More than 0, at most 1,000,000. Guests claim in thousandths, so more than 3 decimals cause a finding.',
  'PushedItem.price_cents': 'Price of one unit, in minor units. Negative for a discount.',
  'PushedItem.note': 'Free text.',
  Totals:
    'In minor units. The totals may differ from the sum of the items, for example by service charges or included taxes.',
  Check: 'A check, as responses and events contain it (contract section 3).',
  'Check.external_id': "The caller's identifier of the check, as in the path.",
  'Check.revision':
    'Revision of the latest push, whatever its field. Times are in UTC. Null if the push had none.',
  'Check.paid_cents': 'Amount paid minus refunds, without tips.',
  'Check.balance_cents': 'Amount still owed. Negative if the total fell below the paid amount.',
  'Check.updated_at': 'Increases with every visible change, so the newer of two states has the later time.',
  'CheckItem.claimed_quantity': 'Quantity in claims, paid or not.',
  'CheckItem.paid_quantity': 'Quantity in paid claims. The whole quantity while the check is fully paid.',
  Claim: 'Items that a guest has claimed.',
  'ClaimedItem.quantity': 'At most 3 decimals.',
  'Claim.amount_cents': 'Share of the total of the current check. Fixed once the claim is paid or released.',
  'Claim.payment_id': 'The payment that paid the claim, even if it was refunded later.',
  'ClaimedItem.price_cents': 'Price of one unit at the time of the claim, in minor units.',
  'Payment.amount_cents': 'Amount paid for the check, without the tip.',
  'Payment.claim_ids': 'The claims that the payment paid.',
  'Payment.refunded_cents': 'Refunded part of the amount.',
  'Feedback.rating': '1 to 5, where 5 is best.',
  WebhookEndpoint: 'A URL that receives events of its location.',
  'WebhookEndpoint.status': 'A disabled endpoint gets no deliveries. Register its URL again.',
  'RegisteredWebhookEndpoint.signing_secret':
    'Key of the signatures of all deliveries to this endpoint. Shown only once.',
  'WebhookEndpointRegistration.url':
    'An absolute https: URL without user info and fragment, at most 2,048 characters.',
  'WebhookEndpointRegistration.event_types': 'Event types to deliver, each once.',
  'ClaimRequest.items': 'Each item once, with a quantity above 0 and at most the unclaimed quantity.',
  'PaymentRequest.claim_ids': 'Claims to pay in full. Cannot be combined with `amount_cents`.',
  'PaymentRequest.amount_cents': 'Amount to pay. Cannot be combined with `claim_ids`.',
  'PaymentRequest.tip_cents': 'Tip, 0 by default.',
  'PaymentRequest.card': 'Result of the simulated card, approved by default.',
  'RefundRequest.amount_cents': 'By default the rest of the payment.',
  'ResendRequest.fresh': 'True signs with the current time. False repeats the header of the first attempt.',
  'KeyRequest.scopes': 'By default all scopes.',
  'KeyRequest.location_id': 'By default the location of the calling key.',
  'Delivery.next_attempt_at': 'Set while the delivery is pending, otherwise null.',
  'Delivery.endpoint_url': 'URL of the endpoint, also after its removal; absent before the first attempt.',
  'Attempt.response_headers':
    'The headers of the response as received: at most 100, and 4 KiB of names and values. Absent without a response.',
  'Attempt.response_headers_cut': 'Present when the response had more headers, or a longer last value.',
  'Attempt.response_body': 'The first 4 KiB of the response body.',
  'Attempt.error': 'Error message: the cause and how to fix it.',
  Event: 'The envelope, and `body`: the exact bytes of the envelope that are signed and sent.',
  'Clock.offset_ms': 'Lead over real time, in milliseconds.',
  'TableAddress.url': 'Gives access to the table without an API key.',
  'TableView.checks': 'Open checks first, newest first.',
  'TableCheck.even_split_cents': 'Amount to split into even shares: the total minus claims that are paid.',
  'TableCheck.claims': 'Claims that hold items, oldest first.',
  'TableCheck.payments': 'Oldest first.',
  'TableClaim.mine': 'True if it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.mine': 'True if it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.tip_cents': 'Null for payments of other guests.',
  'TableClaimRequest.external_check_id': 'External id of a check at the table.',
  'TableClaimRequest.items': 'Each item once, with a quantity above 0 and at most the unclaimed quantity.',
  'TablePaymentRequest.external_check_id': 'External id of a check at the table.',
  'TablePaymentRequest.claim_ids': 'Own claims to pay in full. Cannot be combined with `amount_cents`.',
  'TablePaymentRequest.amount_cents': 'Amount to pay. Cannot be combined with `claim_ids`.',
  'TablePaymentRequest.tip_cents': 'Tip, 0 by default.',
  'TablePaymentRequest.expected_cents':
    'Amount that the guest saw, without the tip. If the amount has changed, nothing is paid.',
  'TablePaymentRequest.card': 'Result of the simulated card, approved by default.',
  'TableFeedbackRequest.external_check_id': 'External id of a check at the table.',
  'TableFeedbackRequest.rating': '1 to 5, where 5 is best.',
}

/** Adds the descriptions. @throws for a description of an unknown component or field. */
export function describe(schemas: Record<string, Json>): Record<string, Json> {
  for (const [key, description] of Object.entries(texts)) {
    const [name = '', field] = key.split('.')
    const schema = schemas[name]
    const target =
      field === undefined ? schema : (schema?.properties as Record<string, Json> | undefined)?.[field]
    if (target === undefined) throw new Error(`Unknown component or field: ${key}.`)
    target.description = description
  }
  return schemas
}
