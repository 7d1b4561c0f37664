import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import type { LoggedRequest } from '../../../../model/simulator/request-entry.ts'
import { Link } from '../address.tsx'
import { type List, queryText } from '../api.ts'
import { advanceToAttempt } from '../clock-moves.ts'
import { Countdown, Time } from '../clock.tsx'
import { AttemptResult, Badge, Missing, StatusCode } from '../elements.tsx'
import { useRead } from '../live.ts'
import { endpointName } from '../views/endpoints.tsx'
import { diffText, FindingLink, findingsOf } from '../views/requests.tsx'
import { type Point, timelineOf } from './timeline-points.ts'

/** A check's timeline: pushes, their events, the attempts, and the next attempts. */
export function Timeline({ externalId }: { externalId: string }) {
  const query = (more: Record<string, string> = {}) =>
    queryText({ limit: '100', external_check_id: externalId, ...more })
  const requests = useRead<List<LoggedRequest>>(`/requests${query({ kind: 'push' })}`)
  const events = useRead<List<EventView>>(`/events${query()}`)
  const deliveries = useRead<List<Delivery>>(`/deliveries${query()}`)
  if (requests.value === undefined || events.value === undefined || deliveries.value === undefined)
    return <Missing problem={requests.problem ?? events.problem ?? deliveries.problem} />
  const points = timelineOf({
    requests: requests.value.data,
    events: events.value.data,
    deliveries: deliveries.value.data,
  })
  const isWhole = [requests, events, deliveries].every(({ value }) => value?.next_cursor === null)
  return (
    <>
      {!isWhole && (
        <p class="quiet">Shows the newest 100 pushes, events and deliveries. The lists show all.</p>
      )}
      <ol class="timeline">
        {points.map((point) => (
          <li key={point.key} class={point.kind}>
            {point.kind === 'next' ? <Countdown to={point.at} /> : <Time at={point.at} />}
            <div class="what">
              <PointContent point={point} />
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}

function PointContent({ point }: { point: Point }) {
  switch (point.kind) {
    case 'push':
      return <Push request={point.request} />
    case 'event':
      return <Link to={{ open: point.event.id }}>{point.event.type}</Link>
    case 'attempt':
      return (
        <>
          <AttemptName delivery={point.delivery} number={point.attempt.number} />{' '}
          <AttemptResult attempt={point.attempt} />
        </>
      )
    case 'next':
      return (
        <>
          <AttemptName delivery={point.delivery} number={point.delivery.attempts.length + 1} />{' '}
          <button type="button" onClick={() => advanceToAttempt(point.delivery.id)}>
            Advance to this time
          </button>
        </>
      )
  }
}

/** The event, number and endpoint of an attempt. */
function AttemptName({
  delivery: { id, event_type, endpoint_id },
  number,
}: {
  delivery: Delivery
  number: number
}) {
  return (
    <>
      <Link to={{ open: id }}>{event_type}</Link>{' '}
      <span class="quiet">
        #{number} to {endpointName(endpoint_id)}
      </span>
    </>
  )
}

function Push({ request }: { request: LoggedRequest }) {
  const { id, push, status } = request
  return (
    <>
      <Link to={{ open: id }}>Push</Link> <Badge word={push?.outcome ?? 'refused'} />{' '}
      {push === null ? <StatusCode status={status} /> : <span class="quiet">{diffText(push.diff)}</span>}
      {findingsOf(request).map(({ code }) => (
        <span key={code} class="findings">
          {' '}
          <FindingLink code={code} />
        </span>
      ))}
    </>
  )
}
