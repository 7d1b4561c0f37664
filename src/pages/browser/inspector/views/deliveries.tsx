import {
  type AttemptMessage,
  attemptOutcomes,
  type Delivery,
  deliveryWord,
  deliveryWords,
} from '../../../../model/delivery.ts'
import { createdAt } from '../../../../model/text/created-at.ts'
import { Link } from '../address.tsx'
import { Countdown } from '../clock.tsx'
import { AttemptResult, Badge } from '../elements.tsx'
import { ResendAll } from '../list/resend-all.tsx'
import { eventTypeFilter, type View } from '../list/view.ts'
import { FirstStep } from '../test-event.tsx'
import { endpointChoices, endpointName } from './endpoints.tsx'

export const deliveriesView: View<Delivery> = {
  name: 'deliveries',
  title: 'Deliveries',
  path: '/deliveries',
  filters: [
    {
      name: 'status',
      label: 'Status',
      choices: deliveryWords.map((word) => [
        word,
        // Deliveries that wait for their first attempt are pending, and so are those that are retried or held.
        word === 'pending' ? 'pending, retrying, held' : word,
      ]),
    },
    {
      name: 'outcome',
      label: 'Outcome',
      all: 'Any last outcome',
      choices: attemptOutcomes.map((outcome) => [outcome, outcome]),
    },
    { name: 'endpoint_id', label: 'Endpoint', choices: endpointChoices },
    eventTypeFilter,
  ],
  isTimed: true,
  actions: ({ status }) => (status === 'dead' ? <ResendAll /> : null),
  hint: 'Search check, ID, outcome, status',
  headings: ['Created', 'Event', 'Check', 'Status', 'Response', 'Attempts', 'Next attempt', 'Endpoint'],
  time: ({ id }) => createdAt(id),
  cells: (delivery) => {
    const last = delivery.attempts.at(-1)
    return [
      <b>{delivery.event_type}</b>,
      delivery.external_check_id ?? '–',
      <Badge word={deliveryWord(delivery)} />,
      last === undefined ? '' : <AttemptResult attempt={last} />,
      `×${delivery.attempts.length}`,
      delivery.next_attempt_at === null ? '' : <Countdown to={delivery.next_attempt_at} />,
      endpointName(delivery.endpoint_id, delivery.endpoint_url),
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

/** Adds an attempt to a delivery, unless the delivery already has it. */
export function withAttempt(row: Delivery, { attempt, ...delivery }: AttemptMessage): Delivery {
  if (row.attempts.length >= attempt.number) return row
  return { ...delivery, attempts: [...row.attempts, attempt] }
}

/** One line about a delivery, for the records that it belongs to. */
export function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const { id, event_type, endpoint_id, endpoint_url, next_attempt_at } = delivery
  return (
    <li>
      <Link to={{ open: id }}>{event_type}</Link>{' '}
      <span class="quiet">to {endpointName(endpoint_id, endpoint_url)}</span>{' '}
      <Badge word={deliveryWord(delivery)} /> {next_attempt_at !== null && <Countdown to={next_attempt_at} />}
    </li>
  )
}
