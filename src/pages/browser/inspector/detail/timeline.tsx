import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import type { LoggedRequest } from '../../../../model/simulator/request-entry.ts'
import { advance } from '../actions.ts'
import { Answer } from '../answer.tsx'
import { queryText } from '../ask.ts'
import type { List } from '../list.ts'
import { Badge, StatusCode } from '../badge.tsx'
import { endpointName } from '../endpoints.ts'
import { FindingLink, findingsOf } from '../findings.tsx'
import { Link } from '../link.tsx'
import { Moment } from '../moment.tsx'
import { NextAttempt } from '../next-attempt.tsx'
import { timelineOf, type Point } from '../timeline.ts'
import { diffText } from '../views/requests.tsx'
import { Action, Missing } from './parts.tsx'
import { useAsked } from '../use-asked.ts'

/** One line of time: from each push to the last attempt of its events, and the next one to come. */
export function Timeline({ externalId }: { externalId: string }) {
  const query = (more: Record<string, string> = {}) =>
    queryText({ limit: '100', external_check_id: externalId, ...more })
  const requests = useAsked<List<LoggedRequest>>(`/requests${query({ kind: 'push' })}`)
  const events = useAsked<List<EventView>>(`/events${query()}`)
  const deliveries = useAsked<List<Delivery>>(`/deliveries${query()}`)
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
      {!isWhole && <p class="quiet">The newest hundred of each kind; the lists have all.</p>}
      <ol class="timeline">
        {points.map((point) => (
          <li key={point.key} class={point.kind}>
            {point.kind === 'next' ? <NextAttempt at={point.at} /> : <Moment at={point.at} />}
            <div class="what">
              <What point={point} />
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}

function What({ point }: { point: Point }) {
  switch (point.kind) {
    case 'push':
      return <Push request={point.request} />
    case 'event':
      return <Link to={{ open: point.event.id }}>{point.event.type}</Link>
    case 'attempt':
      return (
        <>
          <Target delivery={point.delivery} number={point.attempt.number} />{' '}
          <Answer attempt={point.attempt} />
        </>
      )
    case 'next':
      return (
        <>
          <Target delivery={point.delivery} number={point.delivery.attempts.length + 1} />{' '}
          <Action onClick={() => advance({ to: point.at })}>Advance to it</Action>
        </>
      )
  }
}

/** Which attempt, of what, and where to. */
function Target({
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
