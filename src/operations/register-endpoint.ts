import { put } from '../model/records.ts'
import type { ChosenSecretBody, WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { NoAsks, Operation } from './operation.ts'

/** `POST /webhook-endpoints`: a new endpoint with a secret of its own, also for a URL that is registered already. */
export const registerEndpoint = {
  reads: () => ({}),
  decide(_records, { url, event_types, signing_secret }, { now, newId, newSecret }) {
    const endpoint: WebhookEndpoint = {
      id: newId('we'),
      url,
      event_types,
      status: 'enabled',
      disabled_at: null,
      disabled_reason: null,
      created_at: now.toISOString(),
      signing_secret: signing_secret ?? newSecret(),
      consecutive_failures: 0,
    }
    return { reply: endpoint, writes: [put('endpoints', endpoint)], events: [] }
  },
} satisfies Operation<ChosenSecretBody, NoAsks, WebhookEndpoint>
