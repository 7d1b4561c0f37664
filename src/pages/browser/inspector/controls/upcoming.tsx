import type { Delivery } from '../../../../model/delivery.ts'
import { retryScheduleMs } from '../../../../model/retry-schedule.ts'
import { Link } from '../address.tsx'
import type { List } from '../api.ts'
import { Countdown } from '../clock.tsx'
import { advanceToAttempt, advanceToNext } from '../clock-moves.ts'
import { Missing } from '../elements.tsx'
import { useRead } from '../live.ts'
import { endpointName } from '../views/endpoints.tsx'

/** Attempts shown. */
const SHOWN = 20

/** The next attempts of all deliveries, earliest first. */
export function Upcoming() {
  const { value, problem } = useRead<List<Delivery>>(`/deliveries/upcoming?limit=${SHOWN}`)
  return (
    <section class="card" aria-labelledby="upcoming-title">
      <h2 id="upcoming-title">Next attempts</h2>
      {value === undefined ? (
        <Missing problem={problem} />
      ) : value.data.length === 0 ? (
        <p class="quiet">No attempts are scheduled. A failed delivery is retried six times in 35 hours.</p>
      ) : (
        <>
          <div class="buttons">
            <button type="button" class="main" onClick={advanceToNext}>
              Advance to next attempt
            </button>
          </div>
          <ol class="upcoming">
            {value.data.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </ol>
          {value.data.length === SHOWN && <p class="quiet">Shows the next {SHOWN} attempts.</p>}
        </>
      )}
    </section>
  )
}

/** Returns `attempt 3 of 7`: the number of a delivery's next attempt. A ping has one attempt. */
export function nextAttemptText({ event_type, attempts }: Pick<Delivery, 'event_type' | 'attempts'>): string {
  const of = event_type === 'ping' ? 1 : retryScheduleMs.length + 1
  return `attempt ${attempts.length + 1} of ${of}`
}

function Row({ delivery }: { delivery: Delivery }) {
  const { id, event_type, external_check_id, endpoint_id, next_attempt_at } = delivery
  if (next_attempt_at === null) return null
  return (
    <li>
      <span class="due">
        <Countdown to={next_attempt_at} />
      </span>
      <span class="what">
        <Link to={{ open: id }}>{event_type}</Link>{' '}
        {external_check_id !== null && (
          <Link to={{ open: `check/${external_check_id}` }}>{external_check_id}</Link>
        )}{' '}
        <span class="quiet to" title={endpointName(endpoint_id)}>
          {nextAttemptText(delivery)} to {endpointName(endpoint_id)}
        </span>
      </span>
      <button
        type="button"
        aria-label={`Advance to ${event_type}, ${nextAttemptText(delivery)}`}
        onClick={() => advanceToAttempt(id)}
      >
        Advance
      </button>
    </li>
  )
}
