import { eventTypes } from '../../model/event.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'
import { renderTable } from './table.ts'
import { renderFields, renderer } from './text.ts'
import { moment, status } from './words.ts'

export const renderEndpoints = renderer(
  (endpoints: readonly WebhookEndpointView[], columns?: number): string => {
    const rows = endpoints.map(({ id, status: state, url, event_types }) => [
      id,
      status(state),
      url,
      eventsOf(event_types),
    ])
    const empty =
      'No webhook endpoints yet. Register one with: tabwire endpoints create URL --events check.created'
    return renderTable(['endpoint', 'status', 'url', 'events'], rows, empty, columns)
  },
)

/** In a table, so many words would only be in the way. */
function eventsOf(types: readonly string[]): string {
  return types.length === eventTypes.length ? 'all' : types.join(' ')
}

export const renderEndpoint = renderer((endpoint: WebhookEndpointView): string => {
  const { disabled_at, disabled_reason } = endpoint
  const disabled: [string, string][] =
    disabled_at === null ? [] : [['disabled', `${moment(disabled_at)} UTC, ${disabled_reason ?? ''}`]]
  return renderFields([
    ['endpoint', endpoint.id],
    ['url', endpoint.url],
    ['events', endpoint.event_types.join(' ')],
    ['status', status(endpoint.status)],
    ...disabled,
    ['created', `${moment(endpoint.created_at)} UTC`],
  ])
})
