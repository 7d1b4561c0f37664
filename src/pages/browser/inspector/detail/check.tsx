import { useRef } from 'preact/hooks'
import type { Check } from '../../../../model/check.ts'
import type { List } from '../../../../model/simulator/list-queries.ts'
import { money, queryText } from '../api.ts'
import { Time, Countdown } from '../clock.tsx'
import {
  Badge,
  CopyButton,
  Fields,
  Heading,
  NotLoaded,
  Section,
  AttemptSummary,
  StatusCode,
} from '../elements.tsx'
import { useRead } from '../live.ts'
import { checkWord } from '../views/checks.tsx'
import { GuestRecords } from './guest-records.tsx'
import { Guest } from './guest.tsx'
import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import { loggedFindings, pushWord, type LoggedRequest } from '../../../../model/simulator/request-entry.ts'
import { Link } from '../address.tsx'
import { advanceToAttempt } from '../clock-moves.tsx'
import { endpointName } from '../views/endpoints.tsx'
import { diffText, FindingLink } from '../views/requests.tsx'
import { type Point, timelineOf } from './timeline-points.ts'

/** A check: its timeline and items, what guests did, the actions of a guest, and the guest page. */
export function CheckDetail({ externalId }: { externalId: string }) {
  const { value, problem } = useRead<Check>(`/checks/${encodeURIComponent(externalId)}`)
  const guest = useRef<HTMLDivElement>(null)
  return (
    <>
      <Heading kind="Check" name={externalId}>
        {value !== undefined && <Badge word={checkWord(value)} />}
      </Heading>
      {value === undefined ? (
        <NotLoaded problem={problem} />
      ) : (
        <>
          <div class="buttons">
            <button type="button" onClick={() => guest.current?.scrollIntoView()}>
              Act as a guest
            </button>
          </div>
          <Facts check={value} />
        </>
      )}
      <Section title="Timeline">
        <Timeline externalId={externalId} check={value} />
      </Section>
      {value !== undefined && (
        <>
          <Section title="Items">
            <Items check={value} />
          </Section>
          <GuestRecords externalId={externalId} />
          <div class="guest" ref={guest}>
            <Guest check={value} />
          </div>
          {!withoutAddress.test(value.table.number) && (
            <Section title="Guest page">
              <GuestPage table={value.table.number} />
            </Section>
          )}
        </>
      )}
    </>
  )
}

function Facts({ check }: { check: Check }) {
  const { table, totals, balance_cents, revision, updated_at, closed_at } = check
  return (
    <Fields
      rows={[
        ['Table', table.number],
        ['Total', money.value(totals.total_cents)],
        ['Balance', money.value(balance_cents)],
        ['Revision', revision],
        ['Updated', <Time at={updated_at} />],
        ['Closed', closed_at !== null && <Time at={closed_at} />],
      ]}
    />
  )
}

function Items({ check: { items } }: { check: Check }) {
  if (items.length === 0) return <p class="quiet">No items yet.</p>
  return (
    <table class="items">
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col">Quantity</th>
          <th scope="col">Claimed</th>
          <th scope="col">Paid</th>
          <th scope="col">Price</th>
        </tr>
      </thead>
      <tbody>
        {items.map(({ external_id, name, note, quantity, claimed_quantity, paid_quantity, price_cents }) => (
          <tr key={external_id}>
            <td>
              {name} {note !== null && note !== '' && <span class="quiet">{note}</span>}
            </td>
            <td>{quantity}</td>
            <td>{claimed_quantity}</td>
            <td>{paid_quantity}</td>
            <td>{money.value(price_cents)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Table numbers that no URL holds: browsers resolve dot segments, and a lone surrogate has no UTF-8 form. */
const withoutAddress = /^\.{1,2}$|\p{Surrogate}/u

/** The address of a table's guest page, and its QR code as an SVG path. */
interface TableQr {
  url: string
  size: number
  path: string
}

/** The guest page of a table: a link, and the QR code that guests scan. */
function GuestPage({ table }: { table: string }) {
  const { value } = useRead<TableQr>(`/tables/${encodeURIComponent(table)}/qr`)
  if (value === undefined) return null
  const { url, size, path } = value
  return (
    <div class="guest-page">
      <svg
        class="qr"
        viewBox={`0 0 ${size} ${size}`}
        role="img"
        aria-label={`QR code of the guest page of table ${table}`}
        shape-rendering="crispEdges"
      >
        <path d={path} />
      </svg>
      <div class="buttons">
        <a class="button" href={url} target="_blank" rel="noopener">
          Open guest page
        </a>
        <CopyButton label="Copy link" text={() => url} />
      </div>
    </div>
  )
}

/** A check's timeline: pushes, their events, the attempts, and the next attempts. */
function Timeline({ externalId, check }: { externalId: string; check: Check | undefined }) {
  const query = (more: Record<string, string> = {}) =>
    queryText({ limit: '100', external_check_id: externalId, ...more })
  const requests = useRead<List<LoggedRequest>>(`/requests${query({ kind: 'push' })}`)
  const events = useRead<List<EventView>>(`/events${query()}`)
  const deliveries = useRead<List<Delivery>>(`/deliveries${query()}`)
  if (requests.value === undefined || events.value === undefined || deliveries.value === undefined)
    return <NotLoaded problem={requests.problem ?? events.problem ?? deliveries.problem} />
  // Another location may have a check with this external id.
  const own = events.value.data.filter(
    ({ data }) => check === undefined || ('check_id' in data ? data.check_id : data.id) === check.id,
  )
  const ids = new Set(own.map((event) => event.id))
  const points = timelineOf({
    requests: requests.value.data.filter(
      // A push with a wrong key has no location.
      ({ location_id = check?.location_id }) => check === undefined || location_id === check.location_id,
    ),
    events: own,
    deliveries: deliveries.value.data.filter(({ event_id }) => ids.has(event_id)),
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
          <AttemptSummary attempt={point.attempt} />
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
  delivery: { id, event_type, endpoint_id, endpoint_url },
  number,
}: {
  delivery: Delivery
  number: number
}) {
  return (
    <>
      <Link to={{ open: id }}>{event_type}</Link>{' '}
      <span class="quiet">
        #{number} to {endpointName(endpoint_id, endpoint_url)}
      </span>
    </>
  )
}

function Push({ request }: { request: LoggedRequest }) {
  const { id, push, status } = request
  return (
    <>
      <Link to={{ open: id }}>Push</Link> <Badge word={pushWord(request)} />{' '}
      {push === null ? <StatusCode status={status} /> : <span class="quiet">{diffText(push)}</span>}
      {loggedFindings(request).map(({ code }) => (
        <span key={code} class="findings">
          {' '}
          <FindingLink code={code} />
        </span>
      ))}
    </>
  )
}
