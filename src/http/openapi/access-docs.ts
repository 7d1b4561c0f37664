import { listDoc, type OperationDocs } from './operation.ts'
import { simPaging } from './parameters.ts'

/** Access through `/_sim`: keys, webhook endpoints, tables (contract section 10). */
export const accessDocs: OperationDocs = {
  'GET /tables/:number': {
    id: 'getTableAddress',
    tag: 'Simulator access',
    summary: "Show the address of a table's page",
    answers: { 200: { description: 'The URL that its QR code opens.', schema: 'TableAddress' } },
  },
  'POST /webhook-endpoints': {
    id: 'registerWebhookEndpointWithSecret',
    tag: 'Simulator access',
    summary: 'Register a webhook endpoint with a secret of your choice',
    body: 'ChosenSecretRegistration',
    answers: {
      201: { description: 'The endpoint, with its signing secret.', schema: 'RegisteredWebhookEndpoint' },
    },
  },
  'DELETE /webhook-endpoints/:id': {
    id: 'deleteWebhookEndpoint',
    tag: 'Simulator access',
    summary: 'Remove a webhook endpoint',
    answers: { 200: { description: 'The endpoint as it was.', schema: 'WebhookEndpoint' } },
    errors: ['NotFound'],
  },
  'GET /keys': listDoc({
    id: 'listKeys',
    tag: 'Simulator access',
    summary: 'List API keys',
    query: simPaging,
    of: 'ApiKey',
  }),
  'POST /keys': {
    id: 'createKey',
    tag: 'Simulator access',
    summary: 'Make an API key',
    body: 'KeyRequest',
    answers: { 201: { description: 'The key, which is shown this once.', schema: 'CreatedApiKey' } },
  },
  'DELETE /keys/:id': {
    id: 'revokeKey',
    tag: 'Simulator access',
    summary: 'Revoke an API key',
    answers: { 200: { description: 'The key, revoked.', schema: 'ApiKey' } },
    errors: ['NotFound'],
  },
}
