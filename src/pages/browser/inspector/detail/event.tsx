import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import { Link } from '../address.tsx'
import type { List } from '../api.ts'
import { Time } from '../clock.tsx'
import { eventCommand } from '../commands.ts'
import { CopyButton, Fields, Heading, Missing, Section } from '../elements.tsx'
import { useRead } from '../live.ts'
import { DeliveryLine } from '../views/deliveries.tsx'
import { Body } from './body.tsx'

/** An event: its exact body and its deliveries. */
export function EventDetail({ id }: { id: string }) {
  const { value, problem } = useRead<EventView>(`/events/${encodeURIComponent(id)}`)
  const deliveries = useRead<List<Delivery>>(`/deliveries?limit=100&event_id=${encodeURIComponent(id)}`)
  if (value === undefined) return <Missing problem={problem} />
  const { type, created_at, external_check_id, body } = value
  return (
    <>
      <Heading kind="Event" name={type} />
      <div class="buttons">
        <CopyButton label="Copy as command" text={() => eventCommand(id)} />
      </div>
      <Fields
        rows={[
          ['Event', <code>{id}</code>],
          ['Created', <Time at={created_at} />],
          [
            'Check',
            external_check_id !== null && (
              <Link to={{ open: `check/${external_check_id}` }}>{external_check_id}</Link>
            ),
          ],
        ]}
      />
      <Section title="Deliveries">
        {deliveries.value?.data.length === 0 ? (
          <p class="quiet">No endpoint was subscribed to this event.</p>
        ) : (
          <ul class="lines">
            {deliveries.value?.data.map((delivery) => (
              <DeliveryLine key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </Section>
      <Section title="Body">
        <Body text={body} label="Body" />
      </Section>
    </>
  )
}
