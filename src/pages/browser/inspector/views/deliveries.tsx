import type { AttemptMessage, Delivery } from '../../../../model/delivery.ts'
import { Link } from '../address.tsx'
import { Countdown, Time } from '../clock.tsx'
import { AttemptResult, Badge } from '../elements.tsx'
import { eventTypeFilter, type View } from '../list/view.ts'
import { FirstStep } from '../test-event.tsx'
import { endpointName } from './endpoints.tsx'

export const deliveriesView: View<Delivery> = {
  name: 'deliveries',
  title: 'Deliveries',
  path: '/deliveries',
  filters: [
    {
      name: 'status',
      label: 'Status',
      choices: [
        ['pending', 'pending'],
        ['delivered', 'delivered'],
        ['dead', 'dead'],
      ],
    },
    eventTypeFilter,
  ],
  hint: 'Search check, ID, outcome, status',
  headings: ['Last attempt', 'Event', 'Check', 'Status', 'Response', 'Attempts', 'Next attempt', 'Endpoint'],
  cells: (delivery) => {
    const last = delivery.attempts.at(-1)
    return [
      last === undefined ? '–' : <Time at={last.started_at} />,
      <b>{delivery.event_type}</b>,
      delivery.external_check_id ?? '–',
      <Badge word={deliveryWord(delivery)} />,
      last === undefined ? '' : <AttemptResult attempt={last} />,
      `×${delivery.attempts.length}`,
      delivery.next_attempt_at === null ? '' : <Countdown to={delivery.next_attempt_at} />,
      endpointName(delivery.endpoint_id),
    ]
  },
  opens: ({ id }) => id,
  follows: ['event', 'attempt', 'delivery'],
  rowOf: ({ type, data }) => (type === 'attempt' || type === 'delivery' ? (data as Delivery).id : undefined),
  withMessage: (row, { type, data }) =>
    type === 'attempt' ? withAttempt(row, data as AttemptMessage) : (data as Delivery),
  empty: {
    title: 'No deliveries yet',
    text: 'Register an endpoint, then push a check. Each event is delivered to every subscribed endpoint.',
    action: FirstStep,
    commands: ['tabwire listen --forward-to http://localhost:3000/webhooks', 'tabwire trigger check.created'],
  },
}

/** Returns the status in one word; a pending delivery with a failed attempt is "retrying". */
export function deliveryWord({ status, attempts, held }: Delivery): string {
  if (status !== 'pending') return status
  if (held !== undefined) return 'held'
  return attempts.length === 0 ? 'pending' : 'retrying'
}

/** Adds an attempt to a delivery, unless the delivery already has it. */
export function withAttempt(row: Delivery, { attempt, ...delivery }: AttemptMessage): Delivery {
  if (row.attempts.length >= attempt.number) return row
  return { ...delivery, attempts: [...row.attempts, attempt] }
}

/** One line about a delivery, for the records that it belongs to. */
export function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const { id, event_type, endpoint_id, next_attempt_at } = delivery
  return (
    <li>
      <Link to={{ open: id }}>{event_type}</Link> <span class="quiet">to {endpointName(endpoint_id)}</span>{' '}
      <Badge word={deliveryWord(delivery)} /> {next_attempt_at !== null && <Countdown to={next_attempt_at} />}
    </li>
  )
}
