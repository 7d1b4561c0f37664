import { useEffect, useRef, useState } from 'preact/hooks'
import {
  type AttemptMessage,
  attemptOutcomes,
  type Delivery,
  deliveryWord,
  deliveryWords,
} from '../../../../model/delivery.ts'
import type { ResendPlan, SkipReason } from '../../../../model/simulator/sent-request.ts'
import { createdAt } from '../../../../model/text/time.ts'
import { address, Link } from '../address.tsx'
import { messageOf } from '../../call.ts'
import { callApi, queryText } from '../api.ts'
import { Countdown } from '../clock.tsx'
import { Dialog } from '../dialog.tsx'
import { AttemptSummary, Badge } from '../elements.tsx'
import { eventTypeFilter, type View } from '../list/view.ts'
import { publishReturn } from '../live.ts'
import { FirstStep } from './events.tsx'
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
      last === undefined ? '' : <AttemptSummary attempt={last} />,
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
function withAttempt(row: Delivery, { attempt, ...delivery }: AttemptMessage): Delivery {
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

/** Resends of this page at a time; more would not be faster. */
const AT_ONCE = 4

/** Shown with the number of deliveries that are not resent. */
const reasonTexts: Readonly<Record<SkipReason, string>> = {
  endpoint_disabled: 'endpoint disabled. Register its URL again to receive further events.',
  endpoint_removed: 'endpoint removed.',
  covered: 'another delivery of the event was delivered, is pending, or is resent here.',
  ping: 'pings are not resent.',
}

/** The button that resends all dead deliveries that match the filters, and its dialog. */
function ResendAll() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Resend all…
      </button>
      {isOpen && <ResendDialog onClose={() => setOpen(false)} />}
    </>
  )
}

interface Progress {
  resent: number
  /** Number of failed resends by message. */
  failed: ReadonlyMap<string, number>
  isRunning: boolean
}

function ResendDialog({ onClose }: { onClose: () => void }) {
  const { plan, problem } = usePlan()
  const [progress, setProgress] = useState<Progress>()
  const stopped = useRef(false)
  useEffect(() => () => void (stopped.current = true), [])
  const total = plan?.ids.length ?? 0
  const start = async () => {
    if (plan === undefined || progress !== undefined) return
    let resent = 0
    const failed = new Map<string, number>()
    const show = (isRunning: boolean) => setProgress({ resent, failed, isRunning })
    show(true)
    const rest = [...plan.ids].values()
    const work = async () => {
      for (const id of rest) {
        if (stopped.current) return
        try {
          await callApi('POST', `/deliveries/${encodeURIComponent(id)}/resend`, { fresh: true })
          resent += 1
        } catch (error) {
          const message = messageOf(error)
          failed.set(message, (failed.get(message) ?? 0) + 1)
        }
        show(true)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    show(false)
    publishReturn()
  }
  return (
    <Dialog title="Resend the dead deliveries that match the filters?" onClose={onClose}>
      {plan === undefined ? (
        <p role="status">{problem ?? 'Counting…'}</p>
      ) : (
        <>
          <p role="status">{progress === undefined ? plannedText(total) : progressText(progress, total)}</p>
          {progress !== undefined && (
            <progress max={total} value={progress.resent + sumOf(progress.failed)} aria-label="Progress" />
          )}
          <ul class="lines">
            {Object.entries(reasonTexts).map(([reason, text]) => {
              const count = plan.skipped[reason as keyof typeof reasonTexts]
              return count > 0 && <li key={reason}>{`${count.toLocaleString('en')} skipped: ${text}`}</li>
            })}
            {[...(progress?.failed ?? [])].map(([message, count]) => (
              <li key={message} class="reason">{`${count.toLocaleString('en')} failed: ${message}`}</li>
            ))}
          </ul>
        </>
      )}
      <form method="dialog" class="buttons">
        <button>{progress === undefined ? 'Cancel' : progress.isRunning ? 'Stop' : 'Close'}</button>
        {total > 0 && progress === undefined && (
          <button type="button" class="main" onClick={() => void start()}>
            Resend {total.toLocaleString('en')}
          </button>
        )}
      </form>
    </Dialog>
  )
}

/** Reads once which deliveries match the filters and can be resent. */
function usePlan(): { plan?: ResendPlan; problem?: string } {
  const [read, setRead] = useState<{ plan?: ResendPlan; problem?: string }>({})
  useEffect(() => {
    callApi<ResendPlan>('GET', `/deliveries/resend-plan${queryText(address.peek().filters)}`).then(
      (plan) => setRead({ plan }),
      (error: unknown) => setRead({ problem: messageOf(error) }),
    )
  }, [])
  return read
}

function plannedText(total: number): string {
  if (total === 0) return 'No delivery can be resent.'
  if (total === 1) return '1 delivery is resent with a new signature.'
  return `${total.toLocaleString('en')} deliveries are resent with new signatures, oldest first.`
}

function progressText({ resent, failed, isRunning }: Progress, total: number): string {
  if (isRunning) return `Resending ${total.toLocaleString('en')}…`
  const failures = sumOf(failed)
  const text = `Resent ${resent.toLocaleString('en')} of ${total.toLocaleString('en')}.`
  return failures === 0 ? text : `${text} ${failures.toLocaleString('en')} failed.`
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
