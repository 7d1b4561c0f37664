import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** A dialog of the browser's own kind: it keeps the focus, gives it back, and closes by Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) element.current?.close()
      }}
    >
      <div class="inside">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
