import { useState } from 'preact/hooks'
import { type Delivery, deliveryWord } from '../../../../model/delivery.ts'
import { eventTypes } from '../../../../model/event.ts'
import { ping } from '../actions.ts'
import { CheckLink, Link } from '../address.tsx'
import type { List } from '../../../../model/simulator/list-queries.ts'
import { queryText } from '../api.ts'
import { Countdown, Time } from '../clock.tsx'
import { receiverCheckCommand } from '../commands.ts'
import { Confirm } from '../dialog.tsx'
import {
  Action,
  AttemptSummary,
  Badge,
  CopyButton,
  Fields,
  Heading,
  NotLoaded,
  Section,
} from '../elements.tsx'
import { deleteEndpoint, registerAgain } from '../endpoint-actions.tsx'
import { useRead } from '../live.ts'
import { type Endpoint, healthText, LastError, recentText } from '../views/endpoints.tsx'

/** An endpoint: its health, its latest deliveries, and its actions. */
export function EndpointDetail({ id }: { id: string }) {
  const { value, problem } = useRead<Endpoint>(`/webhook-endpoints/${encodeURIComponent(id)}`)
  const latest = useRead<List<Delivery>>(`/deliveries${queryText({ limit: '20', endpoint_id: id })}`)
  return (
    <>
      {value === undefined ? <NotLoaded problem={problem} /> : <Known endpoint={value} />}
      <Section title="Latest deliveries">
        {latest.value?.data.length === 0 ? (
          <p class="quiet">No deliveries yet.</p>
        ) : (
          <ul class="lines">
            {latest.value?.data.map((delivery) => (
              <Line key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </Section>
    </>
  )
}

function Known({ endpoint }: { endpoint: Endpoint }) {
  const { id, url, status, event_types, created_at, disabled_at, last_error } = endpoint
  return (
    <>
      <Heading kind="Endpoint" name={url}>
        <Badge word={status} />
      </Heading>
      <Actions endpoint={endpoint} />
      <Fields
        rows={[
          ['Endpoint', <code>{id}</code>],
          ['Health', healthText(endpoint)],
          ['Delivered', recentText(endpoint)],
          [
            'Last error',
            last_error !== null && (
              <>
                <Link to={{ open: last_error.delivery_id }}>
                  <LastError error={last_error} />
                </Link>{' '}
                {last_error.error}
              </>
            ),
          ],
          ['Disabled', disabled_at !== null && <Time at={disabled_at} />],
          [
            'How to fix',
            status === 'disabled' ? 'Register the URL again. It gets a new id and a new secret.' : '',
          ],
          ['Registered', <Time at={created_at} />],
          ['Events', event_types.length === eventTypes.length ? 'all events' : event_types.join(', ')],
        ]}
      />
    </>
  )
}

function Actions({ endpoint }: { endpoint: Endpoint }) {
  const { id, url, status } = endpoint
  const [isConfirming, setConfirming] = useState(false)
  return (
    <div class="buttons">
      {status === 'disabled' ? (
        <Action kind="main" onClick={() => registerAgain(endpoint)}>
          Register again
        </Action>
      ) : (
        <Action kind="main" onClick={() => ping(id)}>
          Ping
        </Action>
      )}
      <Link class="button" to={{ view: 'deliveries', filters: { endpoint_id: id } }}>
        View all deliveries
      </Link>
      <CopyButton label="Copy as tabwire receiver check" text={() => receiverCheckCommand(url)} />
      <Action kind="danger" onClick={() => setConfirming(true)}>
        Delete…
      </Action>
      {isConfirming && (
        <Confirm
          title="Delete this endpoint?"
          text={`${url} receives no further events. Its pending deliveries become dead.`}
          action="Delete endpoint"
          onConfirm={() => deleteEndpoint(endpoint)}
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  )
}

/** A delivery in one line: time, event, check, status, and the result of its last attempt. */
function Line({ delivery }: { delivery: Delivery }) {
  const { id, event_type, external_check_id, attempts, next_attempt_at } = delivery
  const last = attempts.at(-1)
  return (
    <li class="delivery">
      <span class="quiet">{last === undefined ? '–' : <Time at={last.started_at} />}</span>
      <span>
        <Link to={{ open: id }}>{event_type}</Link>{' '}
        {external_check_id !== null && <CheckLink id={external_check_id} />}{' '}
        <Badge word={deliveryWord(delivery)} /> {last !== undefined && <AttemptSummary attempt={last} />}{' '}
        {next_attempt_at !== null && <Countdown to={next_attempt_at} />}
      </span>
    </li>
  )
}
