import { listDoc, type OperationDocs } from './operation.ts'
import { simPaging } from './parameters.ts'

const apart = 'As under `/v1`, but in no log, and beyond faults and rate limits.'

/** What the inspector's page asks for, and how it comes to be allowed to. */
export const inspectorDocs: OperationDocs = {
  'POST /inspector-links': {
    id: 'createInspectorLink',
    tag: 'Simulator inspector',
    summary: 'Make a code that opens the inspector',
    description: 'It opens at `/#link=<code>` of the service.',
    answers: { 201: { description: 'The code, good once.', schema: 'InspectorLink' } },
  },
  'POST /session': {
    id: 'beginSession',
    tag: 'Simulator inspector',
    summary: 'Begin the session of a page',
    description:
      'For the page of the service alone: it trades the code of its link for a cookie and a secret, which it sends as `X-Tabwire-Page` from then on. A session acts for its key under `/_sim`, but for keys and the whole state.',
    body: 'SessionCode',
    answers: {
      201: { description: 'The session has begun.', schema: 'SessionSecret', headers: ['Set-Cookie'] },
    },
    errors: ['Unauthorized'],
  },
  'GET /session': {
    id: 'getSession',
    tag: 'Simulator inspector',
    summary: 'Show the session of a page',
    answers: { 200: { description: 'The session, if there is one.', schema: 'Session' } },
  },
  'DELETE /session': {
    id: 'endSession',
    tag: 'Simulator inspector',
    summary: 'End the session of a page',
    answers: { 204: { description: 'The session has ended.', headers: ['Set-Cookie'] } },
  },
  'GET /checks': listDoc({
    id: 'searchChecks',
    tag: 'Simulator inspector',
    summary: 'Search checks',
    description: apart,
    query: ['q', 'status.check', 'table', ...simPaging],
    of: 'Check',
  }),
  'GET /checks/:external_check_id': {
    id: 'lookAtCheck',
    tag: 'Simulator inspector',
    summary: 'Show a check',
    description: apart,
    answers: { 200: { description: 'The check.', schema: 'Check' } },
    errors: ['NotFound'],
  },
  'GET /claims': listDoc({
    id: 'lookAtClaims',
    tag: 'Simulator inspector',
    summary: 'List claims',
    description: apart,
    query: ['external_check_id', ...simPaging],
    of: 'Claim',
  }),
  'GET /webhook-endpoints': listDoc({
    id: 'searchWebhookEndpoints',
    tag: 'Simulator inspector',
    summary: 'Search webhook endpoints',
    description: `${apart} With how near each is to being disabled.`,
    query: ['q', 'status.endpoint', ...simPaging],
    of: 'EndpointHealth',
  }),
  'POST /webhook-endpoints/:id/test': {
    id: 'pingFromInspector',
    tag: 'Simulator inspector',
    summary: 'Send a signed ping to a webhook endpoint',
    description: apart,
    answers: { 200: { description: 'What came of the ping.', schema: 'PingReport' } },
    errors: ['NotFound', 'EndpointDisabled'],
  },
  'GET /deliveries/activity': {
    id: 'getDeliveryActivity',
    tag: 'Simulator inspector',
    summary: 'Sum up attempts over time',
    description: 'Of the newest 2,000 deliveries that fit.',
    query: ['q', 'status.delivery', 'endpoint_id', 'event_id', 'type', 'external_check_id'],
    answers: { 200: { description: 'How attempts ended and how long they took.', schema: 'Activity' } },
  },
}
