import chalk from 'chalk'
import type { PingReport } from '../../client.ts'
import { printable, renderer } from './text.ts'

export const renderPing = renderer(
  ({ outcome, response_status, duration_ms, error, delivery_id }: PingReport): string => {
    const took = `${duration_ms ?? 0} ms  ${chalk.dim(delivery_id)}`
    if (outcome === 'succeeded')
      return `${chalk.green('✓')} ping answered ${response_status ?? ''} in ${took}`
    return `${chalk.red('✗')} ping failed: ${printable(error ?? outcome ?? 'it was not sent')}  ${took}`
  },
)
