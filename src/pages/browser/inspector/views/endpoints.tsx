import { Badge } from '../badge.tsx'
import type { Endpoint } from '../endpoints.ts'
import type { View } from '../list/view.ts'
import { Moment } from '../moment.tsx'

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
  hint: 'Search URL, id',
  headings: ['Registered', 'URL', 'Status', 'Health', 'Events'],
  cells: (endpoint) => [
    <Moment at={endpoint.created_at} />,
    <b>{endpoint.url}</b>,
    <Badge word={endpoint.status} />,
    healthText(endpoint),
    endpoint.event_types.length === 8 ? 'all events' : endpoint.event_types.join(', '),
  ],
  opens: ({ id }) => id,
  follows: ['attempt', 'delivery', 'request'],
  empty: {
    title: 'No endpoints yet',
    text: 'Nothing is delivered before a receiver is registered. One on plain HTTP is brought its deliveries by listen.',
    commands: ['tabwire endpoints create https://localhost:8443/webhooks --events all'],
  },
}

/** How an endpoint does, in words. */
export function healthText({ status, disabled_reason, consecutive_failures }: Endpoint): string {
  if (status === 'disabled') return disabled_reason ?? 'disabled'
  if (consecutive_failures === 0) return 'healthy'
  return `${consecutive_failures} in a row failed`
}
