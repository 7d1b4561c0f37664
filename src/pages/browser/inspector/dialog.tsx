import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useKeys } from './keyboard.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  /** True when a click beside the dialog does not close it. */
  isSticky?: boolean
  children: ComponentChildren
}

/** A native modal dialog: the browser traps and restores the focus and closes it with Escape. */
export function Dialog({ title, onClose, isSticky = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current?.showModal()
    // The browser scrolls to the first control, past the beginning of a long text.
    element.current?.scrollTo(0, 0)
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current && !isSticky) element.current?.close()
      }}
    >
      <div class="inside">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  text: string
  action: string
  onConfirm: () => void
  onClose: () => void
}

/** Asks before an action that cannot be undone. The button that cancels comes first, so it has the focus. */
export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <form
        method="dialog"
        class="buttons"
        onSubmit={(event) => {
          if ((event.submitter as HTMLButtonElement | null)?.value === 'yes') onConfirm()
        }}
      >
        <button>Cancel</button>
        <button class="danger" value="yes">
          {action}
        </button>
      </form>
    </Dialog>
  )
}

export const helpShown = signal(false)

const keys = [
  ['/', 'search'],
  ['Tab', 'list, then drawer'],
  ['↓  ↑  j  k', 'next, previous row'],
  ['PgDn  PgUp', 'a page of rows further, back'],
  ['Home  End', 'newest, oldest row'],
  ['Enter', 'open, and move into the record'],
  ['Esc', 'close, and return to the row'],
  ['r', 'resend the open or focused delivery'],
  ['a', 'advance the clock, for an open delivery to its next attempt'],
  ['c', 'copy the ID of the open or focused record'],
  ['?', 'show this help'],
] as const

/** The list of keyboard shortcuts, opened by `?`. */
export function Help() {
  useKeys({ '?': () => (helpShown.value = true) }, [])
  if (!helpShown.value) return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (helpShown.value = false)}>
      <dl class="keys">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        Reference of the API: <a href="/docs">/docs</a>
      </p>
      <p class="quiet">
        The URL keeps the list, its filters and the open record. Copy it to share this view.
      </p>
      <form method="dialog">
        <button class="main">Close</button>
      </form>
    </Dialog>
  )
}
