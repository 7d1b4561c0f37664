import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import { retryScheduleMs } from '../../../../model/retry-schedule.ts'
import { DEFAULT_SERVICE_NAME } from '../../../../model/service-name.ts'
import { advance, resend } from '../actions.ts'
import { ask } from '../ask.ts'
import { Badge } from '../badge.tsx'
import { deliveryCurl, verifyCommand } from '../commands.ts'
import { CopyButton } from '../copy-button.tsx'
import { endpointName, endpoints } from '../endpoints.ts'
import { Link } from '../link.tsx'
import { NextAttempt } from '../next-attempt.tsx'
import { session } from '../session-state.ts'
import { deliveryWord } from '../views/deliveries.tsx'
import { Attempts } from './attempts.tsx'
import { EventBody } from './event.tsx'
import { Action, Fields, Heading, Missing, Section } from './parts.tsx'
import { useAsked } from '../use-asked.ts'

/** A delivery: what was tried, what the receiver answered, what comes next, and sending it again. */
export function DeliveryDetail({ id }: { id: string }) {
  const { value, problem } = useAsked<Delivery>(`/deliveries/${encodeURIComponent(id)}`)
  if (value === undefined) return <Missing problem={problem} />
  const { event_type, event_id, endpoint_id, external_check_id, dead_reason, next_attempt_at, attempts } =
    value
  const of = event_type === 'ping' ? 1 : retryScheduleMs.length + 1
  return (
    <>
      <Heading kind="Delivery" name={event_type}>
        <Badge word={deliveryWord(value)} />
      </Heading>
      <Actions delivery={value} />
      <Fields
        rows={[
          ['Delivery', <code>{id}</code>],
          [
            'Check',
            external_check_id !== null && (
              <Link to={{ open: `check/${external_check_id}` }}>{external_check_id}</Link>
            ),
          ],
          ['Endpoint', <Link to={{ open: endpoint_id }}>{endpointName(endpoint_id)}</Link>],
          ['Event', <Link to={{ open: event_id }}>{event_id}</Link>],
          [
            'Dead',
            dead_reason === 'exhausted'
              ? 'its attempts are used up'
              : dead_reason === null
                ? ''
                : 'its endpoint was disabled or removed',
          ],
          [
            'Next',
            next_attempt_at !== null && (
              <>
                attempt {attempts.length + 1} of {of}, <NextAttempt at={next_attempt_at} />
              </>
            ),
          ],
        ]}
      />
      <Section title={attempts.length === 0 ? 'No attempts yet' : 'Attempts'}>
        <Attempts attempts={attempts} />
      </Section>
      <Section title="What was sent">
        <EventBody id={event_id} />
      </Section>
    </>
  )
}

function Actions({ delivery: { id, event_id, endpoint_id, next_attempt_at } }: { delivery: Delivery }) {
  const name = typeof session.value === 'string' ? DEFAULT_SERVICE_NAME : session.value.service_name
  const url = endpoints.value.get(endpoint_id)?.url
  const curl = async () => {
    const { body } = await ask<EventView>('GET', `/events/${encodeURIComponent(event_id)}`)
    return deliveryCurl(url ?? 'https://endpoint.invalid/', body, name)
  }
  return (
    <div class="buttons">
      <Action kind="main" onClick={() => resend(id, true)}>
        Resend
      </Action>
      <Action onClick={() => resend(id, false)}>Resend verbatim</Action>
      {next_attempt_at !== null && (
        <Action onClick={() => advance({ to: next_attempt_at })}>
          Advance the clock to the next attempt
        </Action>
      )}
      <CopyButton label="Copy as curl" text={curl} />
      <CopyButton label="Copy as tabwire verify" text={() => verifyCommand(id, name)} />
    </div>
  )
}
