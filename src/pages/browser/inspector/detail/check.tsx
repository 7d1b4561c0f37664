import { useRef } from 'preact/hooks'
import type { Check } from '../../../../model/check.ts'
import { money } from '../api.ts'
import { Time } from '../clock.tsx'
import { Badge, CopyButton, Fields, Heading, Missing, Section } from '../elements.tsx'
import { useRead } from '../live.ts'
import { checkWord } from '../views/checks.tsx'
import { GuestRecords } from './guest-records.tsx'
import { Guest } from './guest.tsx'
import { Timeline } from './timeline.tsx'

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
        <Missing problem={problem} />
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
        <Timeline externalId={externalId} />
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
          <Section title="Guest page">
            <GuestPage table={value.table.number} />
          </Section>
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
