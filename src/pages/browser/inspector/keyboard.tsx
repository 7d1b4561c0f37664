import { useLayoutEffect } from 'preact/hooks'
import { resend } from './actions.ts'
import { address, go } from './address.tsx'
import { announceNow, copy, outcome, showBlocked } from './announce.tsx'

type KeyActions = Readonly<Record<string, () => void>>

/** Actions by key, the newest layer first. */
const layers: KeyActions[] = []

/**
 * Adds a layer of single-key actions above the others while the component is shown. The layer moves to the top when
 * `inputs` change; without them, with each render.
 */
export function useKeys(keys: KeyActions, inputs?: readonly unknown[]): void {
  // In the layout phase: a layer ends with its element, not after the next frame. A quick key press in between would
  // still act on a closed record.
  useLayoutEffect(() => {
    layers.unshift(keys)
    return () => void layers.splice(layers.indexOf(keys), 1)
  }, inputs)
}

addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
  const { key, target } = event
  // A held key moves through a list, but acts once.
  if (event.repeat && !/^(Arrow|Page|[jk]$)/.test(key)) return
  // Fields take letters as text, and an open dialog handles its own keys.
  if (target instanceof Element && target.closest('input, select, textarea, dialog[open]') !== null) return
  // Home and End scroll the drawer when it has the focus.
  if ((key === 'Home' || key === 'End') && target instanceof Element && target.closest('.drawer')) return
  const action = layers.find((keys) => Object.hasOwn(keys, key))?.[key]
  if (action === undefined) return
  event.preventDefault()
  action()
})

/** Shortcuts of every view: `r`, `a` and `c`. A layer above, such as an opened delivery, can replace them. */
export function Shortcuts() {
  useKeys({ r: resendFocused, a: openAdvance, c: () => void copyOpenId() }, [])
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
  else if (await copy(id)) outcome.value = { text: `Copied ${id}.`, bad: false }
  else showBlocked(id)
}
