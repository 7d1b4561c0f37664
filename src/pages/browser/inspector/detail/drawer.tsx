import { useEffect, useRef } from 'preact/hooks'
import { go } from '../address.tsx'
import { onKeys } from '../keyboard.ts'
import { CheckDetail } from './check.tsx'
import { DeliveryDetail } from './delivery.tsx'
import { EndpointDetail } from './endpoint.tsx'
import { EventDetail } from './event.tsx'
import { RequestDetail } from './request.tsx'

/** The drawer beside the list: the opened record. */
export function Drawer({ open }: { open: string }) {
  const element = useRef<HTMLElement>(null)
  const close = () => {
    go({ open: '' })
    const row = document.querySelector<HTMLElement>('.row.at') ?? document.querySelector<HTMLElement>('.row')
    row?.focus({ preventScroll: true })
  }
  useEffect(() => onKeys({ Escape: close }), [])
  useEffect(() => element.current?.scrollTo(0, 0), [open])
  return (
    <section class="drawer" ref={element} aria-label="Details" tabIndex={-1}>
      <button type="button" class="plain close" onClick={close}>
        Close <span aria-hidden="true">×</span>
      </button>
      <OpenedRecord key={open} open={open} />
    </section>
  )
}

function OpenedRecord({ open }: { open: string }) {
  if (open.startsWith('check/')) return <CheckDetail externalId={open.slice('check/'.length)} />
  if (open.startsWith('dlv_')) return <DeliveryDetail id={open} />
  if (open.startsWith('evt_')) return <EventDetail id={open} />
  if (open.startsWith('we_')) return <EndpointDetail id={open} />
  if (open.startsWith('req_')) return <RequestDetail id={open} />
  return <p class="notice bad">Unknown record: {open}. Check the id in the address.</p>
}
