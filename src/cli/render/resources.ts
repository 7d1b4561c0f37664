import chalk from 'chalk'
import type { PingReport } from '../../client.ts'
import type { ApiKeyView } from '../../model/api-key.ts'
import type { EventView } from '../../model/event-view.ts'
import { eventTypes } from '../../model/event.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'
import { breakTo, renderFields, renderTable } from './layout.ts'
import { harmless, printable, renderer, status } from './text.ts'
import { formatTime } from '../../model/text/time.ts'

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

/** Shows the location of each key when they differ. */
export const renderKeys = renderer((keys: readonly ApiKeyView[], columns?: number): string => {
  const hasSeveralLocations = new Set(keys.map((key) => key.location_id)).size > 1
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.scopes.join(' '),
    ...(hasSeveralLocations ? [key.location_id] : []),
    formatTime(key.created_at),
    state(key),
  ])
  const location = hasSeveralLocations ? ['location'] : []
  const head = ['key', 'name', 'scopes', ...location, 'created (UTC)', 'state']
  return renderTable(head, rows, 'No keys.', columns)
})

export const renderKey = renderer((key: ApiKeyView & { api_key?: string }, columns?: number): string => {
  const fields: [string, string][] = [
    ['key', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['location', key.location_id],
    ['state', state(key)],
  ]
  const secret: [string, string][] = key.api_key === undefined ? [] : [['api key', key.api_key]]
  return renderFields([...fields, ...secret], columns)
})

function state({ revoked_at }: ApiKeyView): string {
  return revoked_at === null ? chalk.green('valid') : chalk.red(`revoked ${formatTime(revoked_at)}`)
}

export const renderEvents = renderer((events: readonly EventView[], columns?: number): string => {
  const rows = events.map(({ id, type, external_check_id, created_at }) => [
    id,
    type,
    formatTime(created_at),
    external_check_id ?? '',
  ])
  return renderTable(
    ['event', 'type', 'created (UTC)', 'check'],
    rows,
    'No events yet. Push a check with: tabwire push --sample two-top',
    columns,
  )
})

/** Prints the length of the body as it was sent, before control characters are made visible. */
export const renderEvent = (event: EventView, columns?: number): string =>
  renderOne(event, Buffer.byteLength(event.body), columns)

const renderOne = renderer(
  ({ id, type, created_at, external_check_id, data }: EventView, bytes: number, columns?: number): string => {
    const fields: [string, string][] = [
      ['event', id],
      ['type', type],
      ['created', `${formatTime(created_at)} UTC`],
      ['check', external_check_id ?? 'none'],
      ['body', `${bytes} bytes ${chalk.dim('(--body prints them)')}`],
    ]
    const lines = harmless(JSON.stringify(data, null, 2)).split('\n')
    const body = lines.flatMap((line) => breakTo(columns, line))
    return `${renderFields(fields, columns)}\n\n${body.join('\n')}`
  },
)
