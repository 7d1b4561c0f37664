/** A request of a collection: an operation of the document, and what the document cannot say about it. */
export interface Step {
  /** Operation id. */
  operation: string
  /** Name of the request; the operation's summary by default. */
  name?: string
  /** What a user must know before sending the request. */
  note?: string
  /** Values of path parameters; `{{name}}` is a variable. */
  path?: Readonly<Record<string, string>>
  /** Query parameters that are sent. */
  query?: Readonly<Record<string, string>>
  /** Name of the example in the document; the first one by default. */
  example?: string
  /** Fields that replace those of the example. */
  body?: Readonly<Record<string, unknown>>
  /** Variables for later requests, each with its path in the response. */
  saves?: Readonly<Record<string, string>>
}

/** Fields of the example push that later requests need. */
export interface PushedExample {
  table: { number: string }
  items: readonly { external_id: string }[]
}

/** The example push, whose items the guests claim. */
export const PUSH_EXAMPLE = 'two-top'

/** Returns the requests in the order in which they run. Operations that the document lacks are left out later. */
export function stepsFor({ table, items }: PushedExample): readonly Step[] {
  const check = { external_check_id: '{{externalCheckId}}' }
  const [first = '', second = ''] = items.map(({ external_id }) => external_id)
  const claimOf = (external_id: string) => ({ items: [{ external_id, quantity: 1 }] })
  return [
    { operation: 'getHealth' },
    { operation: 'getReadiness' },
    { operation: 'getMetrics' },
    { operation: 'listLocations' },
    {
      operation: 'registerWebhookEndpoint',
      body: { url: '{{webhookUrl}}' },
      saves: { endpointId: 'id' },
    },
    { operation: 'listWebhookEndpoints' },
    { operation: 'getWebhookEndpoint', path: { id: '{{endpointId}}' } },
    { operation: 'pingWebhookEndpoint', path: { id: '{{endpointId}}' } },
    { operation: 'pushCheck', path: check, example: PUSH_EXAMPLE },
    { operation: 'listChecks' },
    { operation: 'getCheck', path: check },
    { operation: 'getClock' },
    {
      operation: 'moveClock',
      note: 'Makes all attempts of the next 36 hours, so the first delivery is delivered or dead.',
    },
    { operation: 'listDeliveries', query: check, saves: { deliveryId: 'data.0.id' } },
    { operation: 'getDelivery', path: { id: '{{deliveryId}}' } },
    { operation: 'getSentSignature', path: { id: '{{deliveryId}}' } },
    { operation: 'resendDelivery', path: { id: '{{deliveryId}}' } },
    { operation: 'listEvents', query: check, saves: { eventId: 'data.0.id' } },
    { operation: 'getEvent', path: { id: '{{eventId}}' } },
    { operation: 'claimItems', path: check, body: claimOf(first), saves: { newClaimId: 'id' } },
    { operation: 'listClaims', query: check, saves: { claimId: 'data.0.id' } },
    { operation: 'getClaim', path: { id: '{{claimId}}' } },
    {
      operation: 'payCheck',
      path: check,
      body: { claim_ids: ['{{newClaimId}}'] },
      saves: { newPaymentId: 'id' },
    },
    { operation: 'listPayments', query: check, saves: { paymentId: 'data.0.id' } },
    { operation: 'getPayment', path: { id: '{{paymentId}}' } },
    { operation: 'refundPayment', path: { id: '{{newPaymentId}}' } },
    {
      operation: 'claimItems',
      name: 'Claim another item',
      path: check,
      body: claimOf(second),
      saves: { otherClaimId: 'id' },
    },
    { operation: 'releaseClaim', path: { id: '{{otherClaimId}}' } },
    { operation: 'leaveFeedback', path: check },
    { operation: 'listFeedback', query: check, saves: { feedbackId: 'data.0.id' } },
    { operation: 'getFeedback', path: { id: '{{feedbackId}}' } },
    { operation: 'getTableAddress', path: { number: table.number } },
    { operation: 'createInspectorLink' },
    { operation: 'listRequests', query: check, saves: { requestId: 'data.0.id' } },
    { operation: 'getRequest', path: { id: '{{requestId}}' } },
    { operation: 'getReport' },
    { operation: 'getAccount' },
    { operation: 'getBundle' },
    { operation: 'setFaults' },
    { operation: 'getFaults' },
    { operation: 'clearFaults' },
    {
      operation: 'registerWebhookEndpointWithSecret',
      body: { url: '{{webhookUrl}}' },
      saves: { otherEndpointId: 'id' },
    },
    { operation: 'deleteWebhookEndpoint', path: { id: '{{otherEndpointId}}' } },
    { operation: 'createKey', saves: { keyId: 'id' } },
    { operation: 'listKeys' },
    { operation: 'revokeKey', path: { id: '{{keyId}}' } },
    { operation: 'getState' },
    { operation: 'loadState', note: 'Replaces all records of the service.' },
    { operation: 'resetState', note: 'Removes all records of the service.' },
    { operation: 'streamEvents', note: 'The response does not end. Cancel the request.' },
  ]
}
