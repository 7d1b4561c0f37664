import { signal } from '@preact/signals'
import { go } from './address.tsx'

/** Grows with each request to move the focus into the drawer. */
export const drawerFocus = signal(0)

/** Opens a record and moves the focus into the drawer: the effect of Enter in a list. */
export function openInDrawer(open: string): void {
  go({ open })
  drawerFocus.value += 1
}
