import type { Attempt, Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import { retryScheduleMs } from '../../../../model/retry-schedule.ts'
import { DEFAULT_SERVICE_NAME } from '../../../../model/text/service-name.ts'
import { resend } from '../actions.ts'
import { Link } from '../address.tsx'
import { callApi, session } from '../api.ts'
import { Countdown, elapsedText, Time } from '../clock.tsx'
import { advanceToAttempt } from '../clock-moves.ts'
import { deliveryCurl, verifyCommand } from '../commands.ts'
import {
  Badge,
  CopyButton,
  Action,
  Fields,
  Heading,
  Missing,
  Section,
  StatusCode,
  Body,
} from '../elements.tsx'
import { useRead } from '../live.ts'
import { deliveryWord } from '../views/deliveries.tsx'
import { endpointName, endpoints } from '../views/endpoints.tsx'
import { EventBody } from './event.tsx'

/** A delivery: its attempts, the next one, the request body, and the actions that resend it. */
export function DeliveryDetail({ id }: { id: string }) {
  const { value, problem } = useRead<Delivery>(`/deliveries/${encodeURIComponent(id)}`)
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
            'Failure',
            dead_reason === 'exhausted'
              ? `All ${of} attempts failed`
              : dead_reason === null
                ? ''
                : 'The endpoint was disabled or removed',
          ],
          [
            'Next attempt',
            next_attempt_at !== null && (
              <>
                {attempts.length + 1} of {of}, <Countdown to={next_attempt_at} />
              </>
            ),
          ],
        ]}
      />
      <Section title={attempts.length === 0 ? 'No attempts yet' : 'Attempts'}>
        <Attempts attempts={attempts} />
      </Section>
      <Section title="Request body">
        <EventBody id={event_id} />
      </Section>
    </>
  )
}

function Actions({ delivery: { id, event_id, endpoint_id, next_attempt_at } }: { delivery: Delivery }) {
  const name = typeof session.value === 'string' ? DEFAULT_SERVICE_NAME : session.value.service_name
  const url = endpoints.value.get(endpoint_id)?.url
  const curl = async () => {
    const { body } = await callApi<EventView>('GET', `/events/${encodeURIComponent(event_id)}`)
    return deliveryCurl(url ?? 'https://endpoint.invalid/', body, name)
  }
  return (
    <div class="buttons">
      <Action kind="main" onClick={() => resend(id, true)}>
        Resend
      </Action>
      <Action onClick={() => resend(id, false)}>Resend verbatim</Action>
      {next_attempt_at !== null && (
        <button type="button" onClick={() => advanceToAttempt(id)}>
          Advance clock to next attempt
        </button>
      )}
      <CopyButton label="Copy as curl" text={curl} />
      <CopyButton label="Copy as tabwire verify" text={() => verifyCommand(id, name)} />
    </div>
  )
}

/** All attempts, newest first, with the receiver's responses. */
function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <ol class="attempts" reversed>
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.number}>
          <p class="line">
            <b>#{attempt.number}</b> <Time at={attempt.started_at} /> <Badge word={attempt.outcome} />{' '}
            {attempt.response_status !== null && <StatusCode status={attempt.response_status} />}{' '}
            <span class="quiet">{elapsedText(attempt.duration_ms)}</span>
            {attempt.faults !== undefined && <span class="tag">fault: {attempt.faults.join(', ')}</span>}
          </p>
          {attempt.error !== null && <p class="reason">{attempt.error}</p>}
          {attempt.response_body !== null && attempt.response_body !== '' && (
            <Body text={attempt.response_body} label={`Response to attempt ${attempt.number}`} />
          )}
        </li>
      ))}
    </ol>
  )
}
