import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Delivery } from '../../../../model/delivery.ts'
import type { EventView } from '../../../../model/event-view.ts'
import { CheckLink, drawerFocus, go } from '../address.tsx'
import type { List } from '../../../../model/simulator/list-queries.ts'
import { Time } from '../clock.tsx'
import { eventCommand } from '../commands.ts'
import { CopyButton, Fields, Heading, NotLoaded, Section } from '../elements.tsx'
import { useKeys } from '../keyboard.tsx'
import { useRead } from '../live.ts'
import { DeliveryLine } from '../views/deliveries.tsx'
import { Body } from './exchange.tsx'
import { CheckDetail } from './check.tsx'
import { DeliveryDetail } from './delivery.tsx'
import { EndpointDetail } from './endpoint.tsx'
import { RequestDetail } from './request.tsx'

let lastTaken = 0

/** The drawer beside the list: the opened record. */
export function Drawer({ open }: { open: string }) {
  const element = useRef<HTMLElement>(null)
  const isReplacing = useRef(false)
  const wanted = drawerFocus.value
  const close = () => go({ open: '' })
  useKeys({ Escape: close }, [])
  useEffect(() => element.current?.scrollTo(0, 0), [open])
  useLayoutEffect(() => {
    // A link in the drawer loses the focus when its record is replaced, and so does a row that the drawer covers.
    const isLost = isReplacing.current && document.activeElement === document.body
    if (wanted > lastTaken || isLost || isCovered(document.activeElement))
      element.current?.focus({ preventScroll: true })
    lastTaken = wanted
    isReplacing.current = true
  }, [open, wanted])
  useLayoutEffect(() => {
    const drawer = element.current
    const opener = document.activeElement
    return () => {
      const { activeElement } = document
      if (activeElement === document.body || drawer?.contains(activeElement) === true) focusRow(opener)
    }
  }, [])
  return (
    <section class="drawer" ref={element} aria-label="Details" tabIndex={-1}>
      <button type="button" class="plain close" onClick={close}>
        Close <span aria-hidden="true">×</span>
      </button>
      <OpenedRecord key={open} open={open} />
    </section>
  )
}

/** Focuses the row of the list that Tab would reach; in a view without rows, what had the focus before. */
function focusRow(before: Element | null): void {
  const row = document.querySelector('.row[tabindex="0"]') ?? before
  if (row instanceof HTMLElement) row.focus({ preventScroll: true })
}

function isCovered(focused: Element | null): boolean {
  return focused !== null && getComputedStyle(focused).visibility === 'hidden'
}

function OpenedRecord({ open }: { open: string }) {
  if (open.startsWith('check/')) return <CheckDetail externalId={open.slice('check/'.length)} />
  if (open.startsWith('dlv_')) return <DeliveryDetail id={open} />
  if (open.startsWith('evt_')) return <EventDetail id={open} />
  if (open.startsWith('we_')) return <EndpointDetail id={open} />
  if (open.startsWith('req_')) return <RequestDetail id={open} />
  return <p class="notice bad">Unknown record: {open}. Check the id in the address.</p>
}

/** An event: its exact body and its deliveries. */
function EventDetail({ id }: { id: string }) {
  const { value, problem } = useRead<EventView>(`/events/${encodeURIComponent(id)}`)
  const deliveries = useRead<List<Delivery>>(`/deliveries?limit=100&event_id=${encodeURIComponent(id)}`)
  if (value === undefined) return <NotLoaded problem={problem} />
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
          ['Check', external_check_id !== null && <CheckLink id={external_check_id} />],
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
