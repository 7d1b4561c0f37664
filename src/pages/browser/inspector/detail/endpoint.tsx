import type { Delivery } from '../../../../model/delivery.ts'
import type { List } from '../list.ts'
import { ping } from '../actions.ts'
import { Badge } from '../badge.tsx'
import { receiverCheckCommand } from '../commands.ts'
import { CopyButton } from '../copy-button.tsx'
import { endpoints } from '../endpoints.ts'
import { Link } from '../link.tsx'
import { Moment } from '../moment.tsx'
import { healthText } from '../views/endpoints.tsx'
import { DeliveryLine } from './delivery-line.tsx'
import { Action, Fields, Heading, Missing, Section } from './parts.tsx'
import { useAsked } from '../use-asked.ts'

/** An endpoint: how it does, why it was disabled, and a ping. */
export function EndpointDetail({ id }: { id: string }) {
  const endpoint = endpoints.value.get(id)
  const latest = useAsked<List<Delivery>>(`/deliveries?limit=20&endpoint_id=${encodeURIComponent(id)}`)
  if (endpoint === undefined)
    return (
      <Missing problem={endpoints.value.size === 0 ? undefined : 'This endpoint is not there any more.'} />
    )
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
          All its deliveries
        </Link>
        <CopyButton label="Copy as tabwire receiver check" text={() => receiverCheckCommand(url)} />
      </div>
      <Fields
        rows={[
          ['Endpoint', <code>{id}</code>],
          ['Health', healthText(endpoint)],
          ['Disabled', disabled_at !== null && <Moment at={disabled_at} />],
          ['Way out', status === 'disabled' ? 'Register it again: it gets a new id and a new secret.' : ''],
          ['Registered', <Moment at={created_at} />],
          ['Events', event_types.join(', ')],
        ]}
      />
      <Section title="Latest deliveries">
        {latest.value?.data.length === 0 ? (
          <p class="quiet">Nothing was sent to it yet.</p>
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
