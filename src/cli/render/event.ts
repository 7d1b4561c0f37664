import chalk from 'chalk'
import type { EventView } from '../../model/event.ts'
import { renderTable } from './table.ts'
import { printable, renderFields, renderer } from './text.ts'
import { moment } from './words.ts'

export const renderEvents = renderer((events: readonly EventView[], columns?: number): string => {
  const rows = events.map(({ id, type, external_check_id, created_at }) => [
    id,
    type,
    moment(created_at),
    external_check_id ?? '',
  ])
  return renderTable(
    ['event', 'type', 'created (UTC)', 'check'],
    rows,
    'No events yet. A push makes the first: tabwire push FILE',
    columns,
  )
})

export const renderEvent = renderer(
  ({ id, type, created_at, external_check_id, data, body }: EventView): string => {
    const fields = renderFields([
      ['event', id],
      ['type', type],
      ['created', `${moment(created_at)} UTC`],
      ['check', external_check_id ?? 'none'],
      ['body', `${Buffer.byteLength(body)} bytes ${chalk.dim('(--body prints them)')}`],
    ])
    return `${fields}\n\n${printable(JSON.stringify(data, null, 2))}`
  },
)
