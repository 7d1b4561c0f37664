import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { onKeys } from '../keyboard.ts'
import { Dialog } from './dialog.tsx'

export const helpShown = signal(false)

const keys = [
  ['/', 'search'],
  ['j  k', 'down, up'],
  ['PgDn  PgUp', 'a page down, up'],
  ['Home  End', 'newest, oldest'],
  ['Enter', 'open'],
  ['Esc', 'close'],
  ['?', 'this help'],
] as const

/** What the keys do. */
export function Help() {
  useEffect(() => onKeys({ '?': () => (helpShown.value = true) }), [])
  if (!helpShown.value) return null
  return (
    <Dialog title="Keyboard" onClose={() => (helpShown.value = false)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        The address holds the list, its filters and what is open: copy it to share what you see.
      </p>
      <form method="dialog">
        <button class="main">Close</button>
      </form>
    </Dialog>
  )
}
