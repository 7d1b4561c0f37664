import { useEffect } from 'preact/hooks'
import { resend } from './actions.ts'
import { address, go } from './address.tsx'
import { announceNow, outcome } from './announce.tsx'
import { onKeys } from './keyboard.ts'

/** Shortcuts of every view: `r`, `a` and `c`. A layer above, such as an opened delivery, can replace them. */
export function Shortcuts() {
  useEffect(() => onKeys({ r: resendFocused, a: openAdvance, c: () => void copyOpenId() }), [])
  return null
}

/** Returns the record that the row with the focus opens; empty without one. */
function focusedRecord(): string {
  return document.querySelector<HTMLElement>('.row:focus')?.dataset.open ?? ''
}

/** Resends the delivery of the row with the focus. */
function resendFocused(): void {
  const id = focusedRecord()
  if (id.startsWith('dlv_')) resend(id, true)
  else announceNow('No delivery is open.')
}

/** Opens the controls with the focus on the duration by which the clock advances. */
function openAdvance(): void {
  go({ view: 'controls' })
  // After the view is rendered.
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.controls input')?.focus())
}

/** Copies the id of the open record, or of the row with the focus. */
async function copyOpenId(): Promise<void> {
  const open = address.peek().open || focusedRecord()
  const id = open.replace(/^check\//, '')
  if (id === '') announceNow('No record is open.')
  else await copyAndSay(id, `Copied ${id}.`)
}

/** Copies a text and says so. */
export async function copyAndSay(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    outcome.value = { text: done, bad: false }
  } catch {
    // Browsers allow no copying on plain HTTP from another machine.
    outcome.value = { text: `The browser blocked copying. Copy this text: ${text}`, bad: true }
  }
}
