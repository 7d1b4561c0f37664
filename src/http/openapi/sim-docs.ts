import { listDoc, type OperationDocs } from './operation.ts'
import { simPaging } from './parameters.ts'

const gone = 'Finished ones are kept up to a limit.'

/** The operations of `/_sim` that look at the service and move it (contract section 10). */
export const simDocs: OperationDocs = {
  'GET /health': {
    id: 'getHealth',
    tag: 'Simulator state',
    summary: 'Check the health of the service',
    answers: { 200: { description: 'The service answers.', schema: 'Health' } },
  },
  'GET /deliveries': listDoc({
    id: 'listDeliveries',
    tag: 'Simulator deliveries',
    summary: 'List deliveries',
    query: ['q', 'status.delivery', 'endpoint_id', 'event_id', 'type', 'external_check_id', ...simPaging],
    of: 'Delivery',
  }),
  'GET /deliveries/:id': {
    id: 'getDelivery',
    tag: 'Simulator deliveries',
    summary: 'Show a delivery',
    description: gone,
    answers: { 200: { description: 'The delivery with its attempts.', schema: 'Delivery' } },
    errors: ['NotFound'],
  },
  'GET /deliveries/:id/signature': {
    id: 'getSentSignature',
    tag: 'Simulator deliveries',
    summary: 'Show the signature header that was sent',
    description: 'That of the latest attempt.',
    answers: { 200: { description: 'The header, as it was sent.', schema: 'SentSignature' } },
    errors: ['NotFound'],
  },
  'POST /deliveries/:id/resend': {
    id: 'resendDelivery',
    tag: 'Simulator deliveries',
    summary: 'Resend a delivery',
    description:
      'A new delivery of the same event to the same endpoint, with the same bytes: signed with the present time, or with `fresh` false with the header of the first attempt. The answer does not wait for the attempt.',
    body: 'ResendRequest',
    answers: { 201: { description: 'The new delivery.', schema: 'Delivery' } },
    errors: ['NotFound', 'EndpointDisabled'],
  },
  'GET /clock': {
    id: 'getClock',
    tag: 'Simulator clock',
    summary: 'Show the clock',
    answers: { 200: { description: 'The clock of the service.', schema: 'Clock' } },
    errors: ['NotFound'],
  },
  'POST /clock': {
    id: 'moveClock',
    tag: 'Simulator clock',
    summary: 'Move or freeze the clock',
    description:
      'An advance attempts everything that falls due, in the order of time, each outcome before the next attempt, and answers when that is done. Under steady traffic it waits for no deliveries that are made more than a second of real time after it began, and no longer than that for an endpoint to which they keep coming. A move ends where the clock stands when its request is ended, or when the state is loaded or reset. `freeze` waits for no move.',
    body: 'ClockMove',
    answers: {
      200: {
        description: 'The clock, and what was attempted while it moved.',
        schema: ['ClockReport', 'Clock'],
      },
    },
    errors: ['NotFound', 'StateReplaced'],
  },
  'GET /faults': {
    id: 'getFaults',
    tag: 'Simulator clock',
    summary: 'Show faults',
    answers: { 200: { description: 'All faults, with how often each was injected.', schema: 'Faults' } },
  },
  'PUT /faults': {
    id: 'setFaults',
    tag: 'Simulator clock',
    summary: 'Set faults',
    description: 'The body replaces all faults: those that are not in it end. Counts begin at 0.',
    body: 'FaultsRequest',
    answers: { 200: { description: 'All faults, with their defaults.', schema: 'Faults' } },
  },
  'DELETE /faults': {
    id: 'clearFaults',
    tag: 'Simulator clock',
    summary: 'Clear faults',
    answers: { 200: { description: 'No faults.', schema: 'Faults' } },
  },
  'GET /state': {
    id: 'getState',
    tag: 'Simulator state',
    summary: 'Show the whole state',
    description:
      'Signing secrets and the clock included; API keys are not. The JSON has one record a line and is sent while it is written.',
    answers: { 200: { description: 'The state, to be put back as it is.', schema: 'State' } },
    errors: ['NotFound'],
  },
  'PUT /state': {
    id: 'loadState',
    tag: 'Simulator state',
    summary: 'Replace the whole state',
    description:
      'Takes what `GET` answers, and states of format 1, which earlier versions saved: their webhook endpoints get the first location. The URLs of its endpoints must be ones that registration accepts. JSON of more than 128 MiB must have one record a line, as `GET` answers it. Reads go on meanwhile; changes wait, and happen to the state that was loaded.',
    body: 'State',
    answers: { 200: { description: 'What there is now.', schema: 'StateReport' } },
    errors: ['NotFound'],
  },
  'POST /reset': {
    id: 'resetState',
    tag: 'Simulator state',
    summary: 'Reset the state',
    description:
      'Locations and API keys stay; all else is gone, faults too, and the clock is where the start put it.',
    answers: { 200: { description: 'What there is now.', schema: 'StateReport' } },
    errors: ['NotFound'],
  },
  'GET /events': listDoc({
    id: 'listEvents',
    tag: 'Simulator events',
    summary: 'List events',
    query: ['q', 'type', 'external_check_id', ...simPaging],
    of: 'Event',
  }),
  'GET /events/:id': {
    id: 'getEvent',
    tag: 'Simulator events',
    summary: 'Show an event',
    description: gone,
    answers: {
      200: {
        description: 'The envelope, and `body`, the exact text that is signed and sent.',
        schema: 'Event',
      },
    },
    errors: ['NotFound'],
  },
  'GET /requests': listDoc({
    id: 'listRequests',
    tag: 'Simulator requests',
    summary: 'List requests',
    query: ['q', 'kind', 'failed', 'finding', 'external_check_id', ...simPaging],
    of: 'LoggedRequest',
  }),
  'GET /requests/:id': {
    id: 'getRequest',
    tag: 'Simulator requests',
    summary: 'Show a request',
    description: `By its X-Request-Id. ${gone}`,
    answers: {
      200: {
        description: 'The request, with the outcome of a push and its findings.',
        schema: 'LoggedRequest',
      },
    },
    errors: ['NotFound'],
  },
  'GET /report': {
    id: 'getReport',
    tag: 'Simulator requests',
    summary: 'Report findings',
    query: ['since.report'],
    answers: { 200: { description: 'The findings, with requests that show them.', schema: 'Report' } },
  },
  'GET /stream': {
    id: 'streamEvents',
    tag: 'Simulator events',
    summary: 'Stream requests, events and attempts',
    description:
      'Server-sent events `request`, `event`, `attempt`, `delivery` and `reset`, each with JSON as its data, until the connection is closed. A reader that falls more than 4 MiB behind misses messages; `dropped` tells it the `count`.',
    query: ['since.stream'],
    answers: { 200: { description: 'The stream.', type: 'text/event-stream', headers: ['Cache-Control'] } },
  },
}
