import { signal } from '@preact/signals'
import type { WebhookEndpointView } from '../../../model/webhook-endpoint.ts'
import { ask } from './ask.ts'
import type { List } from './list.ts'
import { onNews, throttled } from './news.ts'

/** An endpoint with how many of its deliveries have failed in a row. */
export type Endpoint = WebhookEndpointView & { consecutive_failures: number }

/** The newest endpoints by id, by which deliveries are called. */
export const endpoints = signal<ReadonlyMap<string, Endpoint>>(new Map())

export function startEndpoints(): void {
  const read = throttled(() => {
    void ask<List<Endpoint>>('GET', '/webhook-endpoints?limit=100').then(
      ({ data }) => (endpoints.value = new Map(data.map((endpoint) => [endpoint.id, endpoint]))),
      () => undefined,
    )
  }, 2_000)
  onNews(read)
  read()
}

/** `localhost:8443/webhooks`: where the endpoint is, or its id when that is not known. */
export function endpointName(id: string): string {
  const url = endpoints.value.get(id)?.url
  return url === undefined ? id : url.replace(/^https?:\/\//, '')
}
