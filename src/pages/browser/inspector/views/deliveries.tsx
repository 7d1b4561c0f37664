import type { AttemptMessage, Delivery } from '../../../../model/delivery.ts'
import { Answer } from '../answer.tsx'
import { Badge } from '../badge.tsx'
import { endpointName } from '../endpoints.ts'
import { eventTypeFilter } from './event-types.ts'
import type { View } from '../list/view.ts'
import { Moment } from '../moment.tsx'
import { NextAttempt } from '../next-attempt.tsx'

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
  hint: 'Search check, id, outcome, status',
  headings: ['Last attempt', 'Event', 'Check', 'Status', 'Answer', 'Attempts', 'Next', 'Endpoint'],
  cells: (delivery) => {
    const last = delivery.attempts.at(-1)
    return [
      last === undefined ? '–' : <Moment at={last.started_at} />,
      <b>{delivery.event_type}</b>,
      delivery.external_check_id ?? '–',
      <Badge word={deliveryWord(delivery)} />,
      last === undefined ? '' : <Answer attempt={last} />,
      `×${delivery.attempts.length}`,
      delivery.next_attempt_at === null ? '' : <NextAttempt at={delivery.next_attempt_at} />,
      endpointName(delivery.endpoint_id),
    ]
  },
  opens: ({ id }) => id,
  follows: ['event', 'attempt', 'delivery'],
  concerns: ({ type, data }) =>
    type === 'attempt' || type === 'delivery' ? (data as Delivery).id : undefined,
  changed: (row, { type, data }) =>
    type === 'attempt' ? withAttempt(row, data as AttemptMessage) : (data as Delivery),
  empty: {
    title: 'No deliveries yet',
    text: 'Register a receiver, then push a check: each event goes to every endpoint that wants it.',
    commands: ['tabwire listen --forward-to http://localhost:3000/webhooks', 'tabwire trigger check.created'],
  },
}

/** The status in one word: one that has failed and is tried again is told from one that waits for its first attempt. */
export function deliveryWord({ status, attempts, held }: Delivery): string {
  if (status !== 'pending') return status
  if (held !== undefined) return 'held'
  return attempts.length === 0 ? 'pending' : 'retrying'
}

/** A delivery after one more attempt; one that is known already changes nothing. */
export function withAttempt(row: Delivery, { attempt, ...delivery }: AttemptMessage): Delivery {
  if (row.attempts.length >= attempt.number) return row
  return { ...delivery, attempts: [...row.attempts, attempt] }
}
