import type { Delivery } from '../../../../model/delivery.ts'
import { ping } from '../actions.ts'
import { Link } from '../address.tsx'
import type { List } from '../api.ts'
import { Time } from '../clock.tsx'
import { receiverCheckCommand } from '../commands.ts'
import { Action, Badge, CopyButton, Fields, Heading, Missing, Section } from '../elements.tsx'
import { useRead } from '../live.ts'
import { DeliveryLine } from '../views/deliveries.tsx'
import { endpoints, healthText } from '../views/endpoints.tsx'

/** An endpoint: its health, its latest deliveries, and a ping. */
export function EndpointDetail({ id }: { id: string }) {
  const endpoint = endpoints.value.get(id)
  const latest = useRead<List<Delivery>>(`/deliveries?limit=20&endpoint_id=${encodeURIComponent(id)}`)
  if (endpoint === undefined)
    return <Missing problem={endpoints.value.size === 0 ? undefined : 'This endpoint no longer exists.'} />
  const { url, status, event_types, created_at, disabled_at } = endpoint
  return (
    <>
      <Heading kind="Endpoint" name={url}>
        <Badge word={status} />
      </Heading>
      <div class="buttons">
        <Action kind="main" onClick={() => ping(id)}>
          Ping
        </Action>
        <Link class="button" to={{ view: 'deliveries', filters: { endpoint_id: id } }}>
          View all deliveries
        </Link>
        <CopyButton label="Copy as tabwire receiver check" text={() => receiverCheckCommand(url)} />
      </div>
      <Fields
        rows={[
          ['Endpoint', <code>{id}</code>],
          ['Health', healthText(endpoint)],
          ['Disabled', disabled_at !== null && <Time at={disabled_at} />],
          [
            'How to fix',
            status === 'disabled' ? 'Register the URL again. It gets a new id and a new secret.' : '',
          ],
          ['Registered', <Time at={created_at} />],
          ['Events', event_types.join(', ')],
        ]}
      />
      <Section title="Latest deliveries">
        {latest.value?.data.length === 0 ? (
          <p class="quiet">No deliveries yet.</p>
        ) : (
          <ul class="lines">
            {latest.value?.data.map((delivery) => (
              <DeliveryLine key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </Section>
    </>
  )
}
