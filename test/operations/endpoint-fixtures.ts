import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'

/** An enabled endpoint that has failed nothing, or another one where `change` says so. */
export function webhookEndpoint(change: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: 'we_1',
    location_id: 'loc_1',
    url: 'https://localhost/',
    event_types: ['check.updated'],
    status: 'enabled',
    disabled_at: null,
    disabled_reason: null,
    created_at: '2026-11-20T11:00:00.000Z',
    signing_secret: 'whsec_x',
    consecutive_failures: 0,
    ...change,
  }
}
