import { signal } from '@preact/signals'
import { type EventType, eventTypes } from '../../../model/event.ts'
import type { WebhookEndpointView } from '../../../model/webhook-endpoint.ts'
import { act } from './actions.ts'
import { address, go } from './address.tsx'
import { callApi } from './api.ts'

/** An endpoint as its registration returns it. No other response contains the secret. */
export type RegisteredEndpoint = WebhookEndpointView & { signing_secret: string }

/** The registration dialog: its form, or a new endpoint whose secret is shown once. */
export const registration = signal<'form' | RegisteredEndpoint | null>(null)

/** Registers an endpoint and shows its secret. @throws Refused when the URL is not accepted. */
export async function registerEndpoint(url: string, event_types: readonly EventType[]): Promise<void> {
  registration.value = await callApi<RegisteredEndpoint>('POST', '/webhook-endpoints', { url, event_types })
}

/** Registers the URL and the event types of an endpoint again. The new endpoint has a new id and a new secret. */
export function registerAgain({ url, event_types }: Pick<WebhookEndpointView, 'url' | 'event_types'>): void {
  void act(async () => {
    await registerEndpoint(url, event_types.length === 0 ? eventTypes : event_types)
    return `Registered ${url} again.`
  })
}

/** Deletes an endpoint, like `tabwire endpoints delete`. */
export function deleteEndpoint({ id, url }: Pick<WebhookEndpointView, 'id' | 'url'>): void {
  void act(async () => {
    // An open detail would read the deleted endpoint again.
    if (address.peek().open === id) go({ open: '' })
    await callApi('DELETE', `/webhook-endpoints/${encodeURIComponent(id)}`)
    return `Deleted ${url}.`
  })
}
