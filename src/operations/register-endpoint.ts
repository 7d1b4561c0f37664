import { put } from '../model/records.ts'
import type { ChosenSecretBody, WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { NoReads, Operation } from './operation.ts'

interface RegisterEndpoint extends ChosenSecretBody {
  /** The location of the key that registers: the endpoint receives its events only (contract section 2). */
  location_id: string
}

/** `POST /webhook-endpoints`: a new endpoint with a secret of its own, also for a URL that is registered already. */
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
