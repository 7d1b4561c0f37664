import { eventTypes } from '../../model/event.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer, formatTime, status, printable } from './text.ts'
import chalk from 'chalk'
import type { PingReport } from '../../client.ts'

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

/** All event types would make a table's row too wide. */
function eventsOf(types: readonly string[]): string {
  return types.length === eventTypes.length ? 'all' : types.join(' ')
}

export const renderEndpoint = renderer(
  (endpoint: WebhookEndpointView & { signing_secret?: string }, columns?: number): string => {
    const { disabled_at, disabled_reason } = endpoint
    const disabled: [string, string][] =
      disabled_at === null ? [] : [['disabled', `${formatTime(disabled_at)} UTC, ${disabled_reason ?? ''}`]]
    const fields: [string, string][] = [
      ['endpoint', endpoint.id],
      ['url', endpoint.url],
      ['events', endpoint.event_types.join(' ')],
      ['status', status(endpoint.status)],
      ...disabled,
      ['created', `${formatTime(endpoint.created_at)} UTC`],
    ]
    const secret: [string, string][] =
      endpoint.signing_secret === undefined ? [] : [['secret', endpoint.signing_secret]]
    return renderFields([...fields, ...secret], columns)
  },
)

export const renderPing = renderer(
  ({ outcome, response_status, duration_ms, error, delivery_id }: PingReport): string => {
    const took = `${duration_ms ?? 0} ms  ${chalk.dim(delivery_id)}`
    if (outcome === 'succeeded')
      return `${chalk.green('✓')} ping answered ${response_status ?? ''} in ${took}`
    return `${chalk.red('✗')} ping failed: ${printable(error ?? outcome ?? 'the ping was not sent')}  ${took}`
  },
)
