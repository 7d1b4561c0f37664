import { put } from '../model/records.ts'
import type { ChosenSecretBody, WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { NoReads, Operation } from './operation.ts'

interface RegisterEndpoint extends ChosenSecretBody {
  /** Location of the key that registers. The endpoint receives only this location's events (contract section 2). */
  location_id: string
}

/** `POST /webhook-endpoints`: creates an endpoint with its own secret, even for a URL that is already registered. */
export const registerEndpoint = {
  reads: () => ({}),
  decide(_records, { location_id, url, event_types, signing_secret }, { now, newId, newSecret }) {
    const endpoint: WebhookEndpoint = {
      id: newId('we'),
      location_id,
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
} satisfies Operation<RegisterEndpoint, NoReads, WebhookEndpoint>
