import type { Check } from '../../../../model/check.ts'
import type { ClaimView } from '../../../../model/guests/claim.ts'
import { pay, release } from '../actions.ts'
import { type List, money, queryText } from '../api.ts'
import { Time } from '../clock.tsx'
import { Action, Badge, Fields, Heading, Missing, Section } from '../elements.tsx'
import { useRead } from '../live.ts'
import { checkWord } from '../views/checks.tsx'
import { Guest } from './guest.tsx'
import { Timeline } from './timeline.tsx'

/** A check: its timeline, items and claims, and the actions of a guest. */
export function CheckDetail({ externalId }: { externalId: string }) {
  const { value, problem } = useRead<Check>(`/checks/${encodeURIComponent(externalId)}`)
  return (
    <>
      <Heading kind="Check" name={externalId}>
        {value !== undefined && <Badge word={checkWord(value)} />}
      </Heading>
      {value === undefined ? <Missing problem={problem} /> : <Facts check={value} />}
      <Section title="Timeline">
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

/** The claims on a check, with actions on active ones. */
function Claims({ externalId }: { externalId: string }) {
  const { value } = useRead<List<ClaimView>>(
    `/claims${queryText({ limit: '100', external_check_id: externalId })}`,
  )
  if (value === undefined || value.data.length === 0) return null
  return (
    <Section title="Claims">
      <ul class="lines">
        {value.data.map((claim) => (
          <li key={claim.id} class="claim">
            <span>
              {claim.guest_name ?? 'Guest'}, {money.value(claim.amount_cents)} <Badge word={claim.status} />
            </span>
            {claim.status === 'active' && (
              <span class="buttons">
                <Action
                  onClick={() => pay(externalId, { guest_name: claim.guest_name, claim_ids: [claim.id] })}
                >
                  Pay claim
                </Action>
                <Action onClick={() => release(claim.id)}>Release</Action>
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
