import { listDoc, type OperationDocs } from './operation.ts'
import { paging } from './parameters.ts'

/** The operations of `/v1` (specification section 4, contract section 4). */
export const v1Docs: OperationDocs = {
  'GET /locations': listDoc({
    id: 'listLocations',
    tag: 'Locations',
    summary: "List the restaurant's locations",
    query: paging,
    of: 'Location',
  }),
  'GET /checks': listDoc({
    id: 'listChecks',
    tag: 'Checks',
    summary: 'List checks',
    description: "The checks of the key's location.",
    query: ['status.check', 'table', ...paging],
    of: 'Check',
  }),
  'PUT /checks/external/:external_check_id': {
    id: 'pushCheck',
    tag: 'Checks',
    summary: 'Push the current state of a check',
    description:
      'The body is the complete current state of the check, sent on every change, and never a delta. A replay changes nothing; with `revision`, or the field that `start --order-by` names, pushes that arrive out of order end in one state, wherever none is refused; items are told apart by `external_id`. What guests have claimed can be neither removed, nor reduced below what is claimed, nor made cheaper than it is now; on a fully paid check that holds for every item (specification section 4, rules 1 to 4). Unknown fields are ignored, or refused by a service that is strict.',
    body: 'CheckPush',
    answers: {
      200: {
        description: 'The check as it is now: updated, or left as it was by a replay or a stale push.',
        schema: 'Check',
      },
      201: { description: 'The check is new.', schema: 'Check' },
    },
    errors: ['PaidItemsConflict'],
  },
  'GET /checks/external/:external_check_id': {
    id: 'getCheck',
    tag: 'Checks',
    summary: 'Show a check',
    description: 'What it answers is what `check.*` events have as `data`.',
    answers: { 200: { description: 'The check.', schema: 'Check' } },
    errors: ['NotFound'],
  },
  'GET /claims': listDoc({
    id: 'listClaims',
    tag: 'Claims',
    summary: 'List claims',
    description: "Of the checks of the key's location.",
    query: ['external_check_id', ...paging],
    of: 'Claim',
  }),
  'GET /claims/:id': {
    id: 'getClaim',
    tag: 'Claims',
    summary: 'Show a claim',
    answers: { 200: { description: 'The claim.', schema: 'Claim' } },
    errors: ['NotFound'],
  },
  'GET /payments': listDoc({
    id: 'listPayments',
    tag: 'Payments',
    summary: 'List payments',
    description: "Of the checks of the key's location.",
    query: ['external_check_id', ...paging],
    of: 'Payment',
  }),
  'GET /payments/:id': {
    id: 'getPayment',
    tag: 'Payments',
    summary: 'Show a payment',
    answers: { 200: { description: 'The payment.', schema: 'Payment' } },
    errors: ['NotFound'],
  },
  'GET /feedback': listDoc({
    id: 'listFeedback',
    tag: 'Feedback',
    summary: 'List feedback',
    description: "Of the checks of the key's location.",
    query: ['external_check_id', ...paging],
    of: 'Feedback',
  }),
  'GET /feedback/:id': {
    id: 'getFeedback',
    tag: 'Feedback',
    summary: 'Show feedback',
    answers: { 200: { description: 'The feedback.', schema: 'Feedback' } },
    errors: ['NotFound'],
  },
  'POST /webhook-endpoints': {
    id: 'registerWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Register a webhook endpoint',
    description:
      'From now on, events of these types at the location of the key are delivered to the URL. The signing secret is in this response and in no other (specification section 2).',
    body: 'WebhookEndpointRegistration',
    answers: {
      201: { description: 'The endpoint, with its signing secret.', schema: 'RegisteredWebhookEndpoint' },
    },
  },
  'GET /webhook-endpoints': listDoc({
    id: 'listWebhookEndpoints',
    tag: 'Webhook endpoints',
    summary: 'List webhook endpoints',
    description: "Those of the key's location.",
    query: paging,
    of: 'WebhookEndpoint',
  }),
  'GET /webhook-endpoints/:id': {
    id: 'getWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Show a webhook endpoint',
    description: "One of the key's location; those of others are answered 404.",
    answers: { 200: { description: 'The endpoint, without its secret.', schema: 'WebhookEndpoint' } },
    errors: ['NotFound'],
  },
  'POST /webhook-endpoints/:id/test': {
    id: 'pingWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Send a signed ping to a webhook endpoint',
    description:
      "To an endpoint of the key's location. One attempt, at once, and no retry; whatever comes of it is told with status 200.",
    answers: { 200: { description: 'What came of the ping.', schema: 'PingReport' } },
    errors: ['NotFound', 'EndpointDisabled'],
  },
}
