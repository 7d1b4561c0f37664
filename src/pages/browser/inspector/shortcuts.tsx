import { useEffect } from 'preact/hooks'
import { address, go } from './address.tsx'
import { announceNow, outcome } from './announce.tsx'
import { onKeys } from './keyboard.ts'

/** Shortcuts of every view: `a` and `c`. A layer above, such as an opened delivery, can replace them. */
export function Shortcuts() {
  useEffect(() => onKeys({ a: openAdvance, c: () => void copyOpenId() }), [])
  return null
}

/** Opens the controls with the focus on the duration by which the clock advances. */
function openAdvance(): void {
  go({ view: 'controls' })
  // After the view is rendered.
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.controls input')?.focus())
}

/** Copies the id of the open record, or of the row with the focus. */
async function copyOpenId(): Promise<void> {
  const row = document.querySelector<HTMLElement>('.row:focus')
  const open = address.peek().open || (row?.dataset.open ?? '')
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
