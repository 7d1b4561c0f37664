import { signal } from '@preact/signals'
import { eventTypes } from '../../../../model/event.ts'
import type { RecentDeliveries } from '../../../../model/simulator/activity.ts'
import type { WebhookEndpointView } from '../../../../model/webhook-endpoint.ts'
import { address } from '../address.tsx'
import type { List } from '../../../../model/simulator/list-queries.ts'
import { callApi } from '../api.ts'
import { Time } from '../clock.tsx'
import { Badge, StatusCode } from '../elements.tsx'
import { RegisterButton } from '../endpoint-actions.tsx'
import type { View } from '../list/view.ts'
import { onLive, throttled } from '../live.ts'
import { count } from '../../../../model/text/count.ts'

/** An endpoint with its count of consecutive failed deliveries and the outcome of its newest ones. */
export type Endpoint = WebhookEndpointView & RecentDeliveries & { consecutive_failures: number }

/** The newest 100 endpoints by id; the page names a delivery's endpoint by its URL. */
export const endpoints = signal<ReadonlyMap<string, Endpoint>>(new Map())

export function startEndpoints(): void {
  const read = throttled(
    () =>
      callApi<List<Endpoint>>('GET', '/webhook-endpoints?limit=100').then(
        ({ data }) => (endpoints.value = new Map(data.map((endpoint) => [endpoint.id, endpoint]))),
        () => undefined,
      ),
    5_000,
  )
  onLive(read)
  read()
}

/**
 * Returns an endpoint's URL without the scheme, `localhost:8443/webhooks`; its id when the URL is unknown.
 * @param stored The URL that a delivery keeps after the endpoint was removed.
 */
export function endpointName(id: string, stored?: string): string {
  const url = endpoints.value.get(id)?.url ?? stored
  return url === undefined ? id : url.replace(/^https?:\/\//, '')
}

/** Returns the endpoints as choices of a filter; also the one of the address, which may be removed. */
export function endpointChoices(): (readonly [value: string, text: string])[] {
  const { endpoint_id = '' } = address.value.filters
  const ids = [...endpoints.value.keys()]
  return [...ids, ...(endpoint_id === '' || ids.includes(endpoint_id) ? [] : [endpoint_id])].map((id) => [
    id,
    endpointName(id),
  ])
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
  headings: ['Registered', 'URL', 'Status', 'Health', 'Last 50', 'Last error', 'Events'],
  time: ({ created_at }) => created_at,
  cells: (endpoint) => [
    <b title={endpoint.url}>{endpoint.url}</b>,
    <Badge word={endpoint.status} />,
    <span title={healthText(endpoint)}>{healthText(endpoint)}</span>,
    <span title={recentText(endpoint)}>{rateText(endpoint)}</span>,
    endpoint.last_error === null ? '' : <LastError error={endpoint.last_error} />,
    <span title={endpoint.event_types.join(', ')}>
      {endpoint.event_types.length === eventTypes.length ? 'all events' : endpoint.event_types.join(', ')}
    </span>,
  ],
  opens: ({ id }) => id,
  follows: ['attempt', 'delivery', 'request'],
  empty: {
    title: 'No endpoints yet',
    text: 'Register an endpoint to receive deliveries. For a local receiver on plain HTTP, use tabwire listen.',
    commands: ['tabwire listen --forward-to http://localhost:3000/webhooks'],
    action: RegisterButton,
  },
}

export function healthText({ status, disabled_reason, consecutive_failures }: Endpoint): string {
  if (status === 'disabled') return disabled_reason ?? 'disabled'
  if (consecutive_failures === 0) return 'healthy'
  return count(consecutive_failures, 'consecutive failure')
}

/** Returns the part of the newest deliveries that were delivered: `92%`; empty without deliveries. */
function rateText({ recent: { deliveries, delivered } }: Endpoint): string {
  return deliveries === 0 ? '' : `${Math.floor((100 * delivered) / deliveries)}%`
}

/** Returns `46 of the last 50 (92%)`; empty without deliveries. */
export function recentText(endpoint: Endpoint): string {
  const { deliveries, delivered } = endpoint.recent
  return deliveries === 0 ? '' : `${delivered} of the last ${deliveries} (${rateText(endpoint)})`
}

/** The newest failed attempt: its status or outcome, and its time. */
export function LastError({
  error: { at, outcome, response_status },
}: {
  error: NonNullable<Endpoint['last_error']>
}) {
  return (
    <>
      {response_status === null ? <Badge word={outcome} /> : <StatusCode status={response_status} />}{' '}
      <Time at={at} />
    </>
  )
}
