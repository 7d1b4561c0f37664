import type { Check } from '../../../../model/check.ts'
import { Badge } from '../badge.tsx'
import { Moment } from '../moment.tsx'
import { money } from '../money-text.ts'
import { checkWord } from '../views/checks.tsx'
import { Claims } from './claims.tsx'
import { Guest } from './guest.tsx'
import { Fields, Heading, Missing, Section } from './parts.tsx'
import { Timeline } from './timeline.tsx'
import { useAsked } from '../use-asked.ts'

/** A check: its time line, what is on it, and what guests can do with it. */
export function CheckDetail({ externalId }: { externalId: string }) {
  const { value, problem } = useAsked<Check>(`/checks/${encodeURIComponent(externalId)}`)
  return (
    <>
      <Heading kind="Check" name={externalId}>
        {value !== undefined && <Badge word={checkWord(value)} />}
      </Heading>
      {value === undefined ? <Missing problem={problem} /> : <Facts check={value} />}
      <Section title="Time line">
        <Timeline externalId={externalId} />
      </Section>
      {value !== undefined && (
        <>
          <Section title="Items">
            <Items check={value} />
          </Section>
          <Claims externalId={externalId} />
          {value.balance_cents > 0 && <Guest check={value} />}
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
        ['Updated', <Moment at={updated_at} />],
        ['Closed', closed_at !== null && <Moment at={closed_at} />],
      ]}
    />
  )
}

function Items({ check: { items } }: { check: Check }) {
  if (items.length === 0) return <p class="quiet">Nothing has been ordered yet.</p>
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
