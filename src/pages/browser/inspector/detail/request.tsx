import { type CheckChange, fieldName, type FieldChange, type ItemDiff } from '../../../../model/check-diff.ts'
import { loggedFindings, type LoggedRequest } from '../../../../model/simulator/request-entry.ts'
import { CheckLink } from '../address.tsx'
import { money, ownLocation } from '../api.ts'
import { elapsedText, Time } from '../clock.tsx'
import { requestCurl } from '../commands.ts'
import { Badge, CopyButton, Fields, Heading, NotLoaded, Section, StatusCode } from '../elements.tsx'
import { useRead } from '../live.ts'
import { FindingLink } from '../views/requests.tsx'
import { Body } from './exchange.tsx'

/** A request and its response; for a push also its findings and the changes it made. */
export function RequestDetail({ id }: { id: string }) {
  const { value, problem } = useRead<LoggedRequest>(`/requests/${encodeURIComponent(id)}`)
  if (value === undefined) return <NotLoaded problem={problem} />
  const {
    method,
    path,
    status,
    started_at,
    duration_ms,
    push,
    request_body,
    response_body,
    faults,
    trace_id,
    location_id,
  } = value
  const diff = push?.diff ?? null
  const findings = loggedFindings(value)
  return (
    <>
      <Heading
        kind={push === null ? 'Request' : 'Push'}
        name={push?.external_check_id ?? `${method} ${path}`}
      >
        {push === null ? <StatusCode status={status} /> : <Badge word={push.outcome} />}
      </Heading>
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => requestCurl(location.origin, value)} />
        <CopyButton label="Copy X-Request-Id" text={() => id} />
      </div>
      <Fields
        rows={[
          ['X-Request-Id', <code>{id}</code>],
          ['Request', <code>{`${method} ${path}`}</code>],
          ['Status', <StatusCode status={status} />],
          ['Started', <Time at={started_at} />],
          ['Duration', elapsedText(duration_ms)],
          ['Check', push !== null && <CheckLink id={push.external_check_id} />],
          ['Trace id', trace_id && <code>{trace_id}</code>],
          ['Faults', faults?.join(', ')],
          ['Headers', <span class="quiet">Not logged, because they contain the API key</span>],
        ]}
      />
      {findings.length > 0 && (
        <Section title="Findings">
          <ul class="findings-list">
            {findings.map(({ code, message }) => (
              <li key={code + message}>
                <FindingLink code={code} /> {message}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {diff !== null && (
        <Section title="Changes">
          <Diff diff={diff} changes={push?.changes ?? []} price={pricesIn(location_id)} />
        </Section>
      )}
      {request_body !== null && (
        <Section title="Request body">
          <Body text={request_body} label="Request body" />
        </Section>
      )}
      {response_body !== null && (
        <Section title="Response body">
          <Body text={response_body} label="Response body" />
        </Section>
      )}
    </>
  )
}

type Item = ItemDiff['added'][number]

/**
 * Returns a formatter of the prices of a push. In another location than the session's, minor units: the currency may
 * differ. Requests of older recordings have no location.
 */
function pricesIn(location = ownLocation.value?.id): (cents: number) => string {
  return location === ownLocation.value?.id ? money.value : (cents) => `${cents} in minor units`
}

interface DiffProps {
  diff: ItemDiff
  /** Changes outside the items. */
  changes: readonly CheckChange[]
  price: (cents: number) => string
}

/** The changes of a push to a check. */
function Diff({ diff, changes, price }: DiffProps) {
  const valueText = (field: string, value: string | number | null) => {
    if (value === null || value === '') return 'none'
    return field.endsWith('_cents') ? price(Number(value)) : String(value)
  }
  const changesText = (fields: readonly (CheckChange | FieldChange)[]) =>
    fields
      .map(({ field, from, to }) => `${fieldName(field)} ${valueText(field, from)} → ${valueText(field, to)}`)
      .join(', ')
  const itemText = ({ name, quantity, price_cents, note }: Item) =>
    `${quantity} × ${name}, ${price(price_cents)}${note === null || note === '' ? '' : ` (${note})`}`
  return (
    <ul class="diff">
      {changes.length > 0 && <Line sign="~" word="changed" text={changesText(changes)} />}
      {diff.removed.map((item) => (
        <Line key={item.external_id} sign="−" word="removed" text={itemText(item)} />
      ))}
      {diff.changed.map((item) => (
        <Line
          key={item.external_id}
          sign="~"
          word="changed"
          text={`${item.name}: ${changesText(item.changes)}`}
        />
      ))}
      {diff.added.map((item) => (
        <Line key={item.external_id} sign="+" word="added" text={itemText(item)} />
      ))}
      {diff.unchanged > 0 && <Line sign=" " word="same" text={`${diff.unchanged} unchanged`} />}
      {diff.reordered && <Line sign=" " word="same" text="the order of the items changed" />}
    </ul>
  )
}

function Line({ sign, word, text }: { sign: string; word: string; text: string }) {
  return (
    <li class={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="spoken">{word} </span>
      {text}
    </li>
  )
}
