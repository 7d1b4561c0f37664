import { listDoc, type OperationDocs } from './operation.ts'
import { simPaging } from './parameters.ts'

const apart = 'As under `/v1`, but in no log, and beyond faults and rate limits.'

/** The operations of the inspector's page, and the link that opens it. */
export const inspectorDocs: OperationDocs = {
  'POST /inspector-links': {
    id: 'createInspectorLink',
    tag: 'Simulator inspector',
    summary: 'Make a code that opens the inspector',
    description: 'It opens at `/#link=<code>` of the service.',
    answers: { 201: { description: 'The code, good once.', schema: 'InspectorLink' } },
  },
  'POST /session': {
    id: 'createSession',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'Begin a session',
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
    internal: true,
    summary: 'Show the session',
    answers: { 200: { description: 'The session, if there is one.', schema: 'Session' } },
  },
  'DELETE /session': {
    id: 'deleteSession',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'End the session',
    answers: { 204: { description: 'The session has ended.', headers: ['Set-Cookie'] } },
  },
  'GET /checks': listDoc({
    id: 'listInspectorChecks',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'List checks for the inspector',
    description: apart,
    query: ['q', 'status.check', 'table', ...simPaging],
    of: 'Check',
  }),
  'GET /checks/:external_check_id': {
    id: 'getInspectorCheck',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'Show a check for the inspector',
    description: apart,
    answers: { 200: { description: 'The check.', schema: 'Check' } },
    errors: ['NotFound'],
  },
  'GET /claims': listDoc({
    id: 'listInspectorClaims',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'List claims for the inspector',
    description: apart,
    query: ['external_check_id', ...simPaging],
    of: 'Claim',
  }),
  'GET /webhook-endpoints': listDoc({
    id: 'listInspectorEndpoints',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'List webhook endpoints for the inspector',
    description: `${apart} With how near each is to being disabled.`,
    query: ['q', 'status.endpoint', ...simPaging],
    of: 'EndpointHealth',
  }),
  'POST /webhook-endpoints/:id/test': {
    id: 'pingInspectorEndpoint',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'Ping a webhook endpoint from the inspector',
    description: apart,
    answers: { 200: { description: 'What came of the ping.', schema: 'PingReport' } },
    errors: ['NotFound', 'EndpointDisabled'],
  },
  'GET /deliveries/activity': {
    id: 'getDeliveryActivity',
    tag: 'Simulator inspector',
    internal: true,
    summary: 'Count attempts over time',
    description: 'Of the newest 2,000 deliveries that fit.',
    query: ['q', 'status.delivery', 'endpoint_id', 'event_id', 'type', 'external_check_id'],
    answers: { 200: { description: 'How attempts ended and how long they took.', schema: 'Activity' } },
  },
}
