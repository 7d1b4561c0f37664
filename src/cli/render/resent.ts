import chalk from 'chalk'
import type { Delivery } from '../../model/delivery.ts'
import { printable, renderer } from './text.ts'
import { count, status } from './words.ts'

/** What `deliveries resend ID` made. */
export const renderResent = renderer(({ id, event_type, endpoint_id }: Delivery): string => {
  return `${chalk.green('✓')} ${event_type} is sent again to ${endpoint_id}: ${id}`
})

/** What `deliveries resend --dead` came to. */
export const renderResentAll = renderer(({ data, refused }: Resent): string => {
  const reasons = refused.map(({ id, message }) => `${chalk.red('✗')} ${id}: ${printable(message)}`)
  const left = refused.length === 0 ? '' : `, ${refused.length} cannot be`
  const total = `${count(data.length, 'delivery', 'deliveries')} sent again${left}.`
  return [...data.map(renderResent), ...reasons, total].join('\n')
})

interface Resent {
  data: readonly Delivery[]
  refused: readonly { id: string; message: string }[]
}

/** What `deliveries wait` has waited for. */
export const renderMet = renderer((met: readonly Delivery[]): string => {
  const lines = met.map(
    ({ id, event_type, external_check_id, status: word }) =>
      `${chalk.green('✓')} ${event_type}  ${printable(external_check_id ?? '')}  ${status(word)}  ${chalk.dim(id)}`,
  )
  return met.length === 0 ? `${chalk.green('✓')} None came.` : lines.join('\n')
})
