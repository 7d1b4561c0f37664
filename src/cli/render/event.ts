import chalk from 'chalk'
import type { EventView } from '../../model/event-view.ts'
import { breakTo, renderTable, renderFields } from './layout.ts'
import { harmless, renderer, formatTime } from './text.ts'

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
