import { signal } from '@preact/signals'
import type { WebhookEndpointView } from '../../../../model/webhook-endpoint.ts'
import { callApi, type List } from '../api.ts'
import { Time } from '../clock.tsx'
import { Badge } from '../elements.tsx'
import type { View } from '../list/view.ts'
import { onLive, throttled } from '../live.ts'

/** An endpoint with its count of consecutive failed deliveries. */
export type Endpoint = WebhookEndpointView & { consecutive_failures: number }

/** The newest 100 endpoints by id; the page names a delivery's endpoint by its URL. */
export const endpoints = signal<ReadonlyMap<string, Endpoint>>(new Map())

export function startEndpoints(): void {
  const read = throttled(() => {
    void callApi<List<Endpoint>>('GET', '/webhook-endpoints?limit=100').then(
      ({ data }) => (endpoints.value = new Map(data.map((endpoint) => [endpoint.id, endpoint]))),
      () => undefined,
    )
  }, 2_000)
  onLive(read)
  read()
}

/** Returns an endpoint's URL without the scheme, `localhost:8443/webhooks`; its id when the URL is unknown. */
export function endpointName(id: string): string {
  const url = endpoints.value.get(id)?.url
  return url === undefined ? id : url.replace(/^https?:\/\//, '')
}

export const endpointsView: View<Endpoint> = {
  name: 'endpoints',
  title: 'Endpoints',
  path: '/webhook-endpoints',
  filters: [
    {
      name: 'status',
      label: 'Status',
      choices: [
        ['enabled', 'enabled'],
        ['disabled', 'disabled'],
      ],
    },
  ],
  hint: 'Search URL, ID',
  headings: ['Registered', 'URL', 'Status', 'Health', 'Events'],
  cells: (endpoint) => [
    <Time at={endpoint.created_at} />,
    <b>{endpoint.url}</b>,
    <Badge word={endpoint.status} />,
    healthText(endpoint),
    endpoint.event_types.length === 8 ? 'all events' : endpoint.event_types.join(', '),
  ],
  opens: ({ id }) => id,
  follows: ['attempt', 'delivery', 'request'],
  empty: {
    title: 'No endpoints yet',
    text: 'Register an endpoint to receive deliveries. For a local receiver on plain HTTP, use tabwire listen.',
    commands: ['tabwire endpoints create https://localhost:8443/webhooks --events all'],
  },
}

export function healthText({ status, disabled_reason, consecutive_failures }: Endpoint): string {
  if (status === 'disabled') return disabled_reason ?? 'disabled'
  if (consecutive_failures === 0) return 'healthy'
  return `${consecutive_failures} consecutive ${consecutive_failures === 1 ? 'failure' : 'failures'}`
}
