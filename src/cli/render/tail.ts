import chalk from 'chalk'
import type { Delivery } from '../../model/delivery.ts'
import type { Told } from '../tail/news.ts'
import { renderHeaded } from './body.ts'
import { renderAttempt } from './attempt-line.ts'
import { renderRequest } from './request.ts'
import { printable, renderer } from './text.ts'

/** A check of a dozen items, laid out: what was sent is to be read, and not only recognised. */
const EVENT_LINES = 150

/** A line of `tail`, with the bodies below it when `eventBody` is there, which is `null` when it could not be had. */
export const renderTold = renderer((told: Told, columns: number, eventBody?: string | null): string => {
  if (told.type === 'request') {
    const { request_body, response_body } = told.data
    const bodies =
      eventBody === undefined
        ? ''
        : `${renderHeaded('sent', request_body, EVENT_LINES)}${renderHeaded('answered', response_body, EVENT_LINES)}`
    return renderRequest(told.data, columns) + bodies
  }
  const sent = eventBody === undefined ? '' : renderHeaded('event', eventBody, EVENT_LINES)
  if (told.type === 'delivery') return renderRetired(told.data) + sent
  const answered = eventBody === undefined ? '' : renderHeaded('answered', told.data.attempt.response_body)
  return renderAttempt(told.data, columns) + sent + answered
})

function renderRetired({ event_type, external_check_id, attempts, id }: Delivery): string {
  const about = external_check_id === null ? '' : `  ${printable(external_check_id)}`
  const before = attempts.length === 0 ? 'never attempted' : 'no further attempt'
  return `${chalk.red('✗')} ${event_type}${about}  ${chalk.red('dead')}, ${before}: the endpoint is disabled or gone  ${chalk.dim(id)}`
}
