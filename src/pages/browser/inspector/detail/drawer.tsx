import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { go } from '../address.tsx'
import { drawerFocus } from '../drawer-focus.ts'
import { onKeys } from '../keyboard.ts'
import { CheckDetail } from './check.tsx'
import { DeliveryDetail } from './delivery.tsx'
import { EndpointDetail } from './endpoint.tsx'
import { EventDetail } from './event.tsx'
import { RequestDetail } from './request.tsx'

let lastTaken = 0

/** The drawer beside the list: the opened record. */
export function Drawer({ open }: { open: string }) {
  const element = useRef<HTMLElement>(null)
  const isReplacing = useRef(false)
  const wanted = drawerFocus.value
  const close = () => go({ open: '' })
  useEffect(() => onKeys({ Escape: close }), [])
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
    return () => {
      const { activeElement } = document
      if (activeElement === document.body || drawer?.contains(activeElement) === true) focusRow()
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

/** Focuses the row of the list that Tab would reach. */
function focusRow(): void {
  document.querySelector<HTMLElement>('.row[tabindex="0"]')?.focus({ preventScroll: true })
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
